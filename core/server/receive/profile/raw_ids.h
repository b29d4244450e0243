/* From ids of locations, functions or mappings to their places; of one id twice
 * the last counts. */
#ifndef SP_RAW_IDS_H
#define SP_RAW_IDS_H

#include "util/memory/hash_index.h"

typedef struct sp_raw_ids {
  const sp_mem *mem;
  const char *items; /* whose first member is the id */
  size_t item_bytes;
  size_t count;
  bool dense; /* each stands at its own number, from 1 */
  sp_index index;
} sp_raw_ids;

/* SPANPROF_ERR_NOMEM. `items` outlive it. */
spanprof_status sp_raw_ids_init(sp_raw_ids *ids, const sp_mem *mem,
                                const void *items, size_t item_bytes,
                                size_t count);
void sp_raw_ids_dispose(sp_raw_ids *ids);

/* The place, or SP_INDEX_NONE. */
uint32_t sp_raw_ids_find(const sp_raw_ids *ids, uint64_t id);

#endif
