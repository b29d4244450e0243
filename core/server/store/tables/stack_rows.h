/* The frames of stacks, each once.
 *
 * A caller's id is lower than those of its callees. Read from the highest id
 * down, every frame therefore comes after all its callees. */
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
  sp_row_id *locations; /* ids */
  size_t count;
  size_t count_max;
  size_t caller_capacity, location_capacity;
} sp_stack_rows;

/* Read the stacks of `ids`, which has no duplicates. row_of[] gets the numbers
 * of their innermost frames; for id 0, the empty stack, it gets
 * SP_STACK_ROW_NONE. SPANPROF_ERR_LIMIT: more than count_max frames;
 * SPANPROF_ERR_FORMAT: the store is damaged.
 */
spanprof_status sp_stack_rows_read(sp_stack_rows *rows, sqlite3 *db,
                                   sp_cancel *cancel, const sp_row_id *ids,
                                   size_t count, uint32_t *row_of);
void sp_stack_rows_dispose(sp_stack_rows *rows);

#endif
