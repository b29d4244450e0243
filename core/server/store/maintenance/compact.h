/* Merges single profiles into blocks, and small blocks into larger ones. */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "server/store/store_inside.h"

/* The state after a pass of sp_compact(). It keeps the next pass from reading
 * blocks that this pass left unchanged. */
typedef struct sp_compact_seen {
  int64_t block;    /* highest block number when the pass began */
  int64_t quiet_ns; /* hours whose newest block ended before this time were
                     * compacted */
} sp_compact_seen;

/* Largest number of profiles in one block. This limits the memory for making a
 * block, and the data that a query for one minute reads in vain. A block with
 * half of this count is not compacted again. */
#define SP_COMPACT_PROFILES_MAX 1024

/* Make one pass over the blocks that exist when it begins. Blocks are merged if
 * it is worth the work, or if `all` is set, whenever there are two that can be
 * merged. A block gets at most `profiles_max` profiles. Waits for the writer.
 * The caller sets *seen to zeros before the first pass; each successful pass
 * updates it. Returns the status of a failed call of the database, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_compact(sp_store *store, bool all, size_t profiles_max,
                           sp_compact_seen *seen);

#endif
