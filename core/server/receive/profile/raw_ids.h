/* Finds the index of a location, function or mapping by its id. If several
 * items have the same id, the last one is found. */
#ifndef SP_RAW_IDS_H
#define SP_RAW_IDS_H

#include "util/memory/hash_index.h"

typedef struct sp_raw_ids {
  const sp_mem *mem;
  const char *items; /* the array; each item begins with its id */
  size_t item_bytes;
  size_t count;
  bool dense; /* the ids are 1, 2, 3, … */
  sp_index index;
} sp_raw_ids;

/* `items` is borrowed and must live longer. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_raw_ids_init(sp_raw_ids *ids, const sp_mem *mem,
                                const void *items, size_t item_bytes,
                                size_t count);
void sp_raw_ids_dispose(sp_raw_ids *ids);

/* Returns the index of the item with this id, or SP_INDEX_NONE. */
uint32_t sp_raw_ids_find(const sp_raw_ids *ids, uint64_t id);

#endif
