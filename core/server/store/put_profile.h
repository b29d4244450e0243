/* Converts a profile to rows of the file: its names and stacks become ids, and
 * its samples a block.
 *
 * All calls wait for the writer, so the calling thread does as much as it can
 * in sp_put_prepare(). If all names and stacks were seen recently, the writer
 * only inserts the block. Ids that sp_put_prepare() found are valid as long as
 * the writer has not forgotten any ids. If it has forgotten ids, or if a name
 * or stack is new, sp_put_finish() converts the profile on the writer's thread.
 */
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
  /* Ids in the store, by the numbers of the uploaded profile; 0: not known yet.
   * These arrays are one allocation that begins at `texts`. */
  sp_row_id *texts;
  sp_row_id *functions;
  sp_row_id *locations;
  sp_row_id *stacks;
  sp_row_id *path;   /* the locations of the current stack */
  uint32_t *series;  /* ids of the series, by label set */
  uint32_t *numbers; /* for each label set, the index of its series in the block
                      * plus 1; 0: not in the block yet */
  sp_buffer bytes;
  sp_buffer frame;
  uint64_t generation;   /* sp_intern.generation when the ids were found */
  bool may_insert;       /* runs on the writer's thread, so new items get ids */
  sp_row_id application; /* id of the application's name; 0: none, or not known
                          * yet */
  bool all_full;         /* all applications together have reached the series
                          * limit */
  uint64_t others;       /* number of label sets beyond the series limits */
  /* The result, valid if `packed`. */
  bool packed;
  uint32_t source;
  sp_block_profile profile;
  sp_block_parts parts;
} sp_put;

void sp_put_init(sp_put *put, const sp_mem *mem, sp_intern *intern,
                 const sp_received *from);
void sp_put_dispose(sp_put *put);

/* Convert as much as possible. Any thread may call this function, once. Returns
 * SPANPROF_ERR_LIMIT if the profile has too many types, or SPANPROF_ERR_NOMEM.
 */
spanprof_status sp_put_prepare(sp_put *put);

/* Returns whether the profile has so many new frames that one call of
 * sp_put_finish() would block other callers of the writer for too long. */
bool sp_put_is_large(const sp_put *put);

/* Give ids to some of the new items. *more is set if new items are left. Runs
 * on the writer's thread. Returns the statuses of sp_intern_bytes(). */
spanprof_status sp_put_learn(sp_put *put, bool *more);

/* Encode the block. Every item must have an id. Any thread may call this
 * function. */
spanprof_status sp_put_pack(sp_put *put);

/* Convert everything that is not converted yet, and set `packed`. Runs on the
 * writer's thread. Returns the statuses of sp_intern_bytes(). */
spanprof_status sp_put_finish(sp_put *put);

#endif
