/* Reads the frames of stacks from the table `stack`. A frame that several
 * stacks have in common is read once.
 *
 * A caller's id is lower than those of its callees. Frames are read and
 * numbered from the highest id down, so every frame comes after all its
 * callees. */
#ifndef SP_STACK_ROWS_H
#define SP_STACK_ROWS_H

#include "row_cursor.h"
#include "stack_run.h"

#define SP_STACK_ROW_NONE UINT32_MAX

typedef struct sp_stack_rows {
  const sp_mem *mem;
  uint32_t *callers; /* number of each frame's caller, which is higher than the
                      * frame's own number; SP_STACK_ROW_NONE for an outermost
                      * frame */
  sp_row_id *locations; /* id of each frame's location */
  size_t count;
  size_t count_max;
  size_t caller_capacity, location_capacity;
} sp_stack_rows;

/* Read the stacks `ids`, which has no duplicates. row_of[i] is set to the
 * number of the innermost frame of stack i, or to SP_STACK_ROW_NONE for id 0,
 * the empty stack. Returns SPANPROF_ERR_LIMIT if there are more than count_max
 * frames, and SPANPROF_ERR_FORMAT if the store is damaged. */
spanprof_status sp_stack_rows_read(sp_stack_rows *rows, sqlite3 *db,
                                   sp_cancel *cancel, const sp_row_id *ids,
                                   size_t count, uint32_t *row_of);
void sp_stack_rows_dispose(sp_stack_rows *rows);

#endif
