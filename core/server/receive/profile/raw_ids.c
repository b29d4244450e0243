#include "raw_ids.h"

static uint64_t ids_at(const sp_raw_ids *ids, size_t i) {
  uint64_t id;

  memcpy(&id, ids->items + i * ids->item_bytes, sizeof id);
  return id;
}

static uint64_t ids_hash(uint64_t id) {
  return sp_hash_mix(SP_HASH_SEED, id);
}

spanprof_status sp_raw_ids_init(sp_raw_ids *ids, const sp_mem *mem,
                                const void *items, size_t item_bytes,
                                size_t count) {
  spanprof_status st;
  size_t i;

  *ids = (sp_raw_ids){.mem = mem,
                      .items = items,
                      .item_bytes = item_bytes,
                      .count = count,
                      .dense = true};
  for (i = 0; ids->dense && i < count; i++)
    ids->dense = ids_at(ids, i) == i + 1;
  if (ids->dense)
    return SPANPROF_OK;
  /* Add the last items first, because the item that is added first is found if
   * several have the same id. */
  for (i = count; i-- > 0;) {
    if (sp_raw_ids_find(ids, ids_at(ids, i)) != SP_INDEX_NONE)
      continue;
    st = sp_index_reserve(&ids->index, mem);
    if (st)
      return st;
    sp_index_add(&ids->index, ids_hash(ids_at(ids, i)), (uint32_t)i);
  }
  return SPANPROF_OK;
}

void sp_raw_ids_dispose(sp_raw_ids *ids) {
  if (ids->mem)
    sp_index_dispose(&ids->index, ids->mem);
}

uint32_t sp_raw_ids_find(const sp_raw_ids *ids, uint64_t id) {
  uint32_t i, at;

  if (ids->dense)
    return id - 1 < ids->count ? (uint32_t)(id - 1) : SP_INDEX_NONE;
  for (i = sp_index_first(&ids->index, ids_hash(id), &at); i != SP_INDEX_NONE;
       i = sp_index_next(&ids->index, ids_hash(id), &at))
    if (ids_at(ids, i) == id)
      return i;
  return SP_INDEX_NONE;
}
