#include "hash_index.h"

#define INDEX_CAPACITY_MIN 64u
#define INDEX_CAPACITY_MAX (1u << 31)

static void index_put(sp_index_slot *slots, uint32_t mask, sp_index_slot slot) {
  uint32_t at = slot.hash & mask;

  while (slots[at].number)
    at = (at + 1) & mask;
  slots[at] = slot;
}

spanprof_status sp_index_reserve(sp_index *index, const sp_mem *mem) {
  return sp_index_reserve_more(index, mem, 1);
}

spanprof_status sp_index_reserve_more(sp_index *index, const sp_mem *mem,
                                      uint32_t more) {
  uint32_t capacity = index->capacity ? index->capacity : INDEX_CAPACITY_MIN;
  sp_index_slot *slots;
  uint32_t i;

  /* The index is at most half full, so that searching for an absent hash is
   * short. */
  if (index->count + more <= index->capacity / 2)
    return SPANPROF_OK;
  while (index->count + more > capacity / 2) {
    if (capacity == INDEX_CAPACITY_MAX)
      return SPANPROF_ERR_LIMIT;
    capacity *= 2;
  }
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
  const sp_index_slot slot = {sp_index_hash32(hash), number + 1};

  index_put(index->slots, index->capacity - 1, slot);
  index->count++;
}

void sp_index_remove(sp_index *index, uint64_t hash, uint32_t number) {
  const uint32_t mask = index->capacity - 1;
  uint32_t hole = sp_index_hash32(hash) & mask, at;

  if (!index->capacity)
    return;
  while (index->slots[hole].number != number + 1) {
    if (!index->slots[hole].number)
      return;
    hole = (hole + 1) & mask;
  }
  index->slots[hole].number = 0;
  index->count--;
  /* Close the gap: move each following item into the hole if the probe sequence
   * of the item crosses the hole. */
  for (at = (hole + 1) & mask; index->slots[at].number; at = (at + 1) & mask) {
    const uint32_t home = index->slots[at].hash & mask;

    if (((at - home) & mask) < ((at - hole) & mask))
      continue;
    index->slots[hole] = index->slots[at];
    index->slots[at].number = 0;
    hole = at;
  }
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
