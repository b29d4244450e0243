/* Converts a profile to rows of the file: its names and stacks become ids, and
 * its samples a block.
 *
 * All calls wait for the writer, so the calling thread does as much as it can
 * in sp_put_prepare(). If all names and stacks were seen recently, the writer
 * only inserts the block. Ids that were found earlier stay valid as long as the
 * writer has not forgotten any. If it has, or if an item is new,
 * sp_put_finish() converts the profile on the writer's thread. */
#ifndef SP_PUT_PROFILE_H
#define SP_PUT_PROFILE_H

#include "server/model/received.h"
#include "server/store/block/block.h"
#include "server/store/tables/intern.h"

typedef struct sp_put {
  /* Fixed after sp_put_init(). */
  const sp_mem *mem;
  sp_intern *intern;
  const sp_received *from;
  /* Ids of the store; 0: not known yet. All are in one allocation that begins
   * at `texts`. */
  sp_row_id *texts;
  sp_row_id *functions;
  sp_row_id *locations;
  sp_row_id *stacks;
  sp_row_id *path;   /* the locations of the current stack */
  uint32_t *series;  /* by label set */
  uint32_t *numbers; /* for each series in the block, its index plus 1 */
  sp_buffer bytes;
  sp_buffer frame;
  uint64_t generation;   /* of the ids */
  bool may_insert;       /* on the writer's thread: new items get ids */
  sp_row_id application; /* id of its name; 0: none, or not known yet */
  bool all_full;         /* all applications together have reached the series
                          * limit */
  uint64_t others;       /* label sets beyond the series limits */
  /* The result, valid if `packed`. */
  bool packed;
  uint32_t source;
  sp_block_profile profile;
  sp_block_parts parts;
} sp_put;

void sp_put_init(sp_put *put, const sp_mem *mem, sp_intern *intern,
                 const sp_received *from);
void sp_put_dispose(sp_put *put);

/* Convert as much as possible. Any thread may call it, once.
 * SPANPROF_ERR_LIMIT: too many types. SPANPROF_ERR_NOMEM. */
spanprof_status sp_put_prepare(sp_put *put);

/* Returns whether the profile has so many new items that other callers of the
 * writer would wait too long. */
bool sp_put_is_large(const sp_put *put);

/* Give ids to some of the new items. *more: there are others. Runs on the
 * writer's thread. Statuses as in intern.h. */
spanprof_status sp_put_learn(sp_put *put, bool *more);

/* Encode the block, once every item has an id. Any thread may call it. */
spanprof_status sp_put_pack(sp_put *put);

/* Convert everything that is missing; sets `packed`. Runs on the writer's
 * thread. Statuses as in intern.h. */
spanprof_status sp_put_finish(sp_put *put);

#endif
