/* Merges single profiles into blocks, and small blocks into larger ones. */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "server/store/store_inside.h"

/* The state after a pass, so that the next pass reads nothing again. */
typedef struct sp_compact_seen {
  int64_t block;    /* highest block number at that time */
  int64_t quiet_ns; /* blocks that end before this time had been unchanged for
                     * long enough */
} sp_compact_seen;

/* Largest number of profiles in one block. It limits the memory for making a
 * block, and the unneeded data that a query for one minute reads. A block with
 * half of this count is not compacted again. */
#define SP_COMPACT_PROFILES_MAX 1024

/* Make one pass over the blocks that exist when it begins. Blocks are merged if
 * it is worth the work; with `all`, whenever they can be. A block gets at most
 * `profiles_max` profiles. Waits for the writer. *seen: zeros before the first
 * pass; updated when a pass succeeds. Statuses of the database,
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_compact(sp_store *store, bool all, size_t profiles_max,
                           sp_compact_seen *seen);

#endif
