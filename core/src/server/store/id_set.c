#include "id_set.h"

#include <string.h>

spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint32_t id) {
  const size_t at = id / 8, before = set->room;
  void *bits = set->bits;

  if (sp_mem_reserve(mem, &bits, &set->room, at + 1, 1))
    return SPANPROF_ERR_NOMEM;
  set->bits = bits;
  memset(set->bits + before, 0, set->room - before);
  set->bits[at] |= (uint8_t)(1u << id % 8);
  return SPANPROF_OK;
}

bool sp_id_set_has(const sp_id_set *set, uint32_t id) {
  return id / 8 < set->room && (set->bits[id / 8] >> id % 8 & 1);
}

void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem) {
  sp_mem_free(mem, set->bits);
  *set = (sp_id_set){0};
}
