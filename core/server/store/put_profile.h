/* A profile on its way into the file: its names and stacks become ids, its
 * samples a block.
 *
 * The call that hands it in does what it can (sp_put_prepare()), so that the
 * writer, for which all others wait, has little to do: with every name and
 * stack seen lately, nothing but to insert the block. Ids that were found so
 * are good as long as the writer forgot none of them; else, and where something
 * was new, the writer does it (sp_put_finish()). */
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
  /* Ids of the store, 0: not known yet. In one array, which begins at texts. */
  sp_row_id *texts;
  sp_row_id *functions;
  sp_row_id *locations;
  sp_row_id *stacks;
  sp_row_id *path;   /* the locations of the present stack */
  uint32_t *series;  /* by label set */
  uint32_t *numbers; /* of those in the block, plus 1 */
  sp_buffer bytes;
  sp_buffer frame;
  uint64_t generation;   /* of the ids */
  bool asks;             /* on the writer's thread: new items get ids */
  sp_row_id application; /* id of its name; 0: none, or not known yet */
  bool all_full;         /* all applications together are at their series limit
                          */
  uint64_t others;       /* label sets beyond the limits of series */
  /* What is made of it, where `packed`. */
  bool packed;
  uint32_t source;
  sp_block_profile profile;
  sp_block_parts parts;
} sp_put;

void sp_put_init(sp_put *put, const sp_mem *mem, sp_intern *intern,
                 const sp_received *from);
void sp_put_dispose(sp_put *put);

/* On any thread, once. SPANPROF_ERR_LIMIT: too many types; NOMEM. */
spanprof_status sp_put_prepare(sp_put *put);

/* Whether it has so many new items that the writer's other callers would wait
 * too long. */
bool sp_put_is_large(const sp_put *put);

/* On the writer's thread: give ids to some of the new items. *more: others are
 * left. Statuses of sp_intern.h. */
spanprof_status sp_put_learn(sp_put *put, bool *more);

/* On any thread, once every item has an id. */
spanprof_status sp_put_pack(sp_put *put);

/* On the writer's thread, after it: `packed` then. Statuses of sp_intern.h. */
spanprof_status sp_put_finish(sp_put *put);

#endif
