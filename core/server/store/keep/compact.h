/* Puts profiles that are alone together, and small blocks into larger ones. */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "server/store/store_inside.h"

/* What a pass before has seen, so that the next one reads nothing in vain. */
typedef struct sp_compact_seen {
  int64_t block;    /* the highest number there was */
  int64_t quiet_ns; /* what is older had rested for long enough */
} sp_compact_seen;

/* Profiles of one block: bounds the memory for making it, and the excess that a
 * query of one minute reads. A block with half of them is not compacted again.
 */
#define SP_COMPACT_PROFILES_MAX 1024

/* Make one pass over the blocks that exist when it begins. Blocks are merged if
 * it is worth the work; with `all`, whenever they can be. A block gets at most
 * `profiles_max` profiles. Waits for the writer. *seen: zeros before the first
 * pass; updated when a pass succeeds. Statuses of the database,
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_compact(sp_store *store, bool all, size_t profiles_max,
                           sp_compact_seen *seen);

#endif
