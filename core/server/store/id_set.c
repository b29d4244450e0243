#include "id_set.h"

#define ID_SET_PAGE_BYTES 4096
#define ID_SET_PAGE_IDS   (8 * ID_SET_PAGE_BYTES)

static spanprof_status id_set_reserve(sp_id_set *set, const sp_mem *mem,
                                      size_t count) {
  const size_t before = set->room;
  void *pages = set->pages;
  size_t i;

  if (sp_mem_reserve(mem, &pages, &set->room, count, sizeof *set->pages))
    return SPANPROF_ERR_NOMEM;
  set->pages = pages;
  for (i = before; i < set->room; i++)
    set->pages[i] = NULL;
  return SPANPROF_OK;
}

spanprof_status sp_id_set_add(sp_id_set *set, const sp_mem *mem, uint32_t id) {
  const size_t at = id / ID_SET_PAGE_IDS, bit = id % ID_SET_PAGE_IDS;

  if (id_set_reserve(set, mem, at + 1))
    return SPANPROF_ERR_NOMEM;
  if (!set->pages[at])
    set->pages[at] = sp_mem_zero(mem, ID_SET_PAGE_BYTES);
  if (!set->pages[at])
    return SPANPROF_ERR_NOMEM;
  set->pages[at][bit / 8] |= (uint8_t)(1u << bit % 8);
  return SPANPROF_OK;
}

bool sp_id_set_has(const sp_id_set *set, uint32_t id) {
  const size_t at = id / ID_SET_PAGE_IDS, bit = id % ID_SET_PAGE_IDS;

  return at < set->room && set->pages[at] &&
         (set->pages[at][bit / 8] >> bit % 8 & 1);
}

void sp_id_set_dispose(sp_id_set *set, const sp_mem *mem) {
  size_t i;

  for (i = 0; i < set->room; i++)
    sp_mem_free(mem, set->pages[i]);
  sp_mem_free(mem, set->pages);
  *set = (sp_id_set){0};
}
