/* Puts profiles that are alone together, and small blocks into larger ones. */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "store_inside.h"

/* What a pass before has seen, so that the next one reads nothing in vain. */
typedef struct sp_compact_seen {
  int64_t block;    /* the highest number there was */
  int64_t quiet_ns; /* what is older had rested for long enough */
} sp_compact_seen;

/* Of one block: memory while it is made, and what a query of a minute reads too
 * much. One that has half of them is left as it is. */
#define SP_COMPACT_PROFILES_MAX 1024

/* One pass over the store: what is there when it begins, as far as it is worth
 * it; all: whatever can be put together. A block gets `profiles_max` at most.
 * Waits for the writer. *seen: zeros before the first pass; kept up where the
 * pass ended well. Statuses as of the database, SPANPROF_ERR_NOMEM. */
spanprof_status sp_compact(sp_store *store, bool all, size_t profiles_max,
                           sp_compact_seen *seen);

#endif
