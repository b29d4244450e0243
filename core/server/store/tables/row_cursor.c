#include "row_cursor.h"

#include "util/system/status.h"

/* A search in the table costs as much as this number of steps to the next row.
 */
#define ROW_STEPS_MAX 16

spanprof_status sp_row_cursor_move(sp_row_cursor *cursor, int64_t id) {
  const int64_t gap = cursor->down ? cursor->at - id : id - cursor->at;
  int code = SQLITE_ROW;
  spanprof_status st = sp_cancel_step(cursor->cancel);

  if (!st)
    st = sp_database_prepare(cursor->db, &cursor->row, cursor->sql);
  if (st || (cursor->at && gap <= 0))
    return st;
  if (!cursor->at || gap > ROW_STEPS_MAX) {
    sqlite3_reset(cursor->row);
    sqlite3_bind_int64(cursor->row, 1, id);
  }
  do {
    st = sp_database_step(cursor->row, &code);
    cursor->at = code == SQLITE_ROW ? sqlite3_column_int64(cursor->row, 0) : 0;
  } while (!st && cursor->at &&
           (cursor->down ? cursor->at > id : cursor->at < id));
  if (!st && (!cursor->at || (!cursor->down && cursor->at != id)))
    st = sp_fail(SPANPROF_ERR_FORMAT, "a frame of a stored stack is missing");
  return st;
}

void sp_row_cursor_dispose(sp_row_cursor *cursor) {
  sqlite3_finalize(cursor->row);
  cursor->row = NULL;
  cursor->at = 0;
}
