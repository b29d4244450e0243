/* Rows of the table `stack`.
 *
 * A stack is a path from the outermost frame inwards, and each of its frames
 * has an id. A row has a run: up to SP_STACK_RUN_MAX consecutive frames of a
 * stack, each called by the frame before it. The first frame has the row's id,
 * and the others have the ids that follow. The row of a frame is therefore the
 * row with the highest id that is not above the frame's id. A caller's id is
 * lower than those of its callees. */
#ifndef SP_STACK_RUN_H
#define SP_STACK_RUN_H

#include "database.h"
#include "util/memory/buffer.h"

/* Largest number of frames in a row. With 32 frames in each row, SQLite's
 * b-trees add only a tenth to the bytes of the locations. */
#define SP_STACK_RUN_MAX 32

/* The columns of the table, in the order that sp_stack_run_read() expects.
 * Column `location` is the location of the first frame, and `more` has those of
 * the other frames; it is NULL in a run of one frame. */
#define SP_STACK_RUN_COLUMNS "id, parent, location, more"

typedef struct sp_stack_run {
  sp_row_id id;     /* id of the first frame */
  sp_row_id parent; /* id of the first frame's caller; 0: it has none */
  uint32_t count;   /* number of frames; 0: no run */
  sp_row_id locations[SP_STACK_RUN_MAX]; /* ids of the frames' locations */
} sp_stack_run;

/* Read the run from the current row of a query for SP_STACK_RUN_COLUMNS.
 * Returns SPANPROF_ERR_FORMAT if the row is damaged. */
spanprof_status sp_stack_run_read(sp_stack_run *run, sqlite3_stmt *row);

/* Write column `more` of a run of these locations. Returns SPANPROF_ERR_NOMEM
 * on failure. */
spanprof_status sp_stack_run_more(const sp_row_id *locations, size_t count,
                                  sp_buffer *more);

static inline bool sp_stack_run_has(const sp_stack_run *run, sp_row_id id) {
  return id >= run->id && id - run->id < run->count;
}

#endif
