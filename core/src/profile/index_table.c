#include "index_table.h"

#define INDEX_CAPACITY_MIN 64u
#define INDEX_CAPACITY_MAX (1u << 31)

static void index_put(sp_index_slot *slots, uint32_t mask, sp_index_slot slot) {
  uint32_t at = slot.hash & mask;

  while (slots[at].number)
    at = (at + 1) & mask;
  slots[at] = slot;
}

spanprof_status sp_index_reserve(sp_index *index, const sp_mem *mem) {
  uint32_t capacity = index->capacity ? index->capacity : INDEX_CAPACITY_MIN;
  sp_index_slot *slots;
  uint32_t i;

  /* At most half full, so that a walk over a wrong hash is short. */
  if (index->count < index->capacity / 2)
    return SPANPROF_OK;
  if (capacity == INDEX_CAPACITY_MAX)
    return SPANPROF_ERR_LIMIT;
  if (index->capacity)
    capacity *= 2;
  slots = sp_mem_zero(mem, capacity * sizeof *slots);
  if (!slots)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < index->capacity; i++)
    if (index->slots[i].number)
      index_put(slots, capacity - 1, index->slots[i]);
  sp_mem_free(mem, index->slots);
  index->slots = slots;
  index->capacity = capacity;
  return SPANPROF_OK;
}

void sp_index_add(sp_index *index, uint64_t hash, uint32_t number) {
  const sp_index_slot slot = {sp_index_fold(hash), number + 1};

  index_put(index->slots, index->capacity - 1, slot);
  index->count++;
}

void sp_index_clear(sp_index *index) {
  if (index->count)
    memset(index->slots, 0, sp_index_bytes(index));
  index->count = 0;
}

void sp_index_dispose(sp_index *index, const sp_mem *mem) {
  sp_mem_free(mem, index->slots);
  memset(index, 0, sizeof *index);
}
