/* From a thread's number to its index in the thread table. Open addressing,
 * linear probing; guarded by the table's lock. */
#ifndef SP_TID_MAP_H
#define SP_TID_MAP_H

#include "../util/mem.h"

typedef struct sp_tid_map {
  const sp_mem *mem; /* the rest is 0 at first */
  struct sp_tid_slot {
    int tid; /* 0: empty */
    uint32_t index;
  } * slots;
  size_t capacity; /* 0 or a power of two */
  size_t count;
} sp_tid_map;

/* 0: not there (the table uses indices from 1). */
uint32_t sp_tid_map_get(const sp_tid_map *map, int tid);

/* Set, whether it was there or not. SPANPROF_ERR_NOMEM: unchanged. */
spanprof_status sp_tid_map_set(sp_tid_map *map, int tid, uint32_t index);
void sp_tid_map_remove(sp_tid_map *map, int tid);
void sp_tid_map_dispose(sp_tid_map *map);

#endif
