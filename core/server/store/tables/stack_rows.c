#include "stack_rows.h"

#include "util/system/status.h"

/* A frame that must be read, and the reason. If `by` has this flag, its other
 * bits are the index of the requested stack that ends with the frame. Else `by`
 * is the number of the callee that was read. */
#define ROWS_REQUESTED (UINT32_C(1) << 31)

typedef struct rows_wanted {
  sp_row_id id;
  uint32_t by;
} rows_wanted;

/* A max-heap of frames, ordered by id. It never grows, because each frame that
 * is read is replaced by its caller. */
typedef struct rows_heap {
  rows_wanted *items;
  size_t count;
} rows_heap;

static void rows_sink(rows_heap *heap, size_t at) {
  const rows_wanted item = heap->items[at];
  size_t below;

  for (; (below = 2 * at + 1) < heap->count; at = below) {
    below += below + 1 < heap->count &&
             heap->items[below + 1].id > heap->items[below].id;
    if (heap->items[below].id <= item.id)
      break;
    heap->items[at] = heap->items[below];
  }
  heap->items[at] = item;
}

static spanprof_status rows_begin(rows_heap *heap, const sp_stack_rows *rows,
                                  const sp_row_id *ids, size_t count,
                                  uint32_t *row_of) {
  uint32_t i;
  size_t at;

  heap->items = sp_mem_new(rows->mem, (count + 1) * sizeof *heap->items);
  if (!heap->items)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < count; i++) {
    row_of[i] = SP_STACK_ROW_NONE;
    if (ids[i])
      heap->items[heap->count++] = (rows_wanted){ids[i], ROWS_REQUESTED | i};
  }
  for (at = heap->count / 2; at-- > 0;)
    rows_sink(heap, at);
  return SPANPROF_OK;
}

/* Append a frame, and get the id of its caller. */
static spanprof_status rows_add(sp_stack_rows *rows, const sp_stack_run *run,
                                sp_row_id id, sp_row_id *caller) {
  spanprof_status st;

  if (rows->count == rows->count_max)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "the query has too many stacks: narrow it down");
  st =
      sp_mem_reserve(rows->mem, (void **)&rows->callers, &rows->caller_capacity,
                     rows->count + 1, sizeof *rows->callers);
  if (!st)
    st = sp_mem_reserve(rows->mem, (void **)&rows->locations,
                        &rows->location_capacity, rows->count + 1,
                        sizeof *rows->locations);
  if (st)
    return st;
  *caller = id > run->id ? id - 1 : run->parent;
  rows->callers[rows->count] = SP_STACK_ROW_NONE;
  rows->locations[rows->count++] = run->locations[id - run->id];
  return SPANPROF_OK;
}

/* Read the run that contains the frame, unless it is the current run. */
static spanprof_status rows_run(sp_row_cursor *cursor, sp_stack_run *run,
                                sp_row_id id) {
  spanprof_status st;

  if (sp_stack_run_has(run, id))
    return SPANPROF_OK;
  st = sp_row_cursor_move(cursor, id);
  if (!st)
    st = sp_stack_run_read(run, cursor->row);
  if (!st && !sp_stack_run_has(run, id))
    st = sp_fail(SPANPROF_ERR_FORMAT, "a frame of a stored stack is missing");
  return st;
}

spanprof_status sp_stack_rows_read(sp_stack_rows *rows, sqlite3 *db,
                                   sp_cancel *cancel, const sp_row_id *ids,
                                   size_t count, uint32_t *row_of) {
  sp_row_cursor cursor = {.db = db,
                          .sql = "SELECT " SP_STACK_RUN_COLUMNS " FROM stack "
                                 "WHERE id<=?1 ORDER BY id DESC",
                          .down = true,
                          .cancel = cancel};
  sp_stack_run run = {0};
  rows_heap heap = {0};
  spanprof_status st = rows_begin(&heap, rows, ids, count, row_of);
  sp_row_id caller, last_id = 0;

  while (!st && heap.count) {
    const rows_wanted wanted = heap.items[0];

    caller = 0;
    if (wanted.id != last_id) {
      st = rows_run(&cursor, &run, wanted.id);
      if (!st)
        st = rows_add(rows, &run, wanted.id, &caller);
      if (st)
        break;
      last_id = wanted.id;
    }
    if (wanted.by & ROWS_REQUESTED)
      row_of[wanted.by & ~ROWS_REQUESTED] = (uint32_t)rows->count - 1;
    else
      rows->callers[wanted.by] = (uint32_t)rows->count - 1;
    heap.items[0] = caller ? (rows_wanted){caller, (uint32_t)rows->count - 1}
                           : heap.items[--heap.count];
    rows_sink(&heap, 0);
  }
  sp_row_cursor_dispose(&cursor);
  sp_mem_free(rows->mem, heap.items);
  return st;
}

void sp_stack_rows_dispose(sp_stack_rows *rows) {
  sp_mem_free(rows->mem, rows->callers);
  sp_mem_free(rows->mem, rows->locations);
}
