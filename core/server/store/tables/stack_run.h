/* Rows of the table `stack`.
 *
 * A stack is a path from the outermost frame inwards, and each of its frames
 * has an id. A row has a run: up to SP_STACK_RUN_MAX consecutive frames of a
 * stack, each called by the frame before it. The first frame has the row's id,
 * and the others have the ids that follow. The row of a frame is therefore the
 * row with the highest id that is not above the frame's. A caller's id is lower
 * than those of its callees. */
#ifndef SP_STACK_RUN_H
#define SP_STACK_RUN_H

#include "database.h"
#include "util/memory/buffer.h"

/* Largest number of frames in a row. With 32 frames in each row, the b-trees
 * need a tenth of the bytes that the locations need. */
#define SP_STACK_RUN_MAX 32

/* Its columns, as sp_stack_run_read() expects them. Column `more` has the
 * locations after the first; it is NULL in a run of one frame. */
#define SP_STACK_RUN_COLUMNS "id, parent, location, more"

typedef struct sp_stack_run {
  sp_row_id id;     /* of the first frame */
  sp_row_id parent; /* id of the first frame's caller; 0: it has none */
  uint32_t count;   /* of frames; 0: no run */
  sp_row_id locations[SP_STACK_RUN_MAX]; /* ids */
} sp_stack_run;

/* SPANPROF_ERR_FORMAT: the row is damaged. */
spanprof_status sp_stack_run_read(sp_stack_run *run, sqlite3_stmt *row);

/* Write column `more` of a run of these locations. SPANPROF_ERR_NOMEM. */
spanprof_status sp_stack_run_more(const sp_row_id *locations, size_t count,
                                  sp_buffer *more);

static inline bool sp_stack_run_has(const sp_stack_run *run, sp_row_id id) {
  return id >= run->id && id - run->id < run->count;
}

#endif
