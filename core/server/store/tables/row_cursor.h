/* Finds rows of one table by their ids, upwards or downwards. It steps to near
 * rows and searches for others. */
#ifndef SP_ROW_CURSOR_H
#define SP_ROW_CURSOR_H

#include "database.h"
#include "server/model/cancel.h"

typedef struct sp_row_cursor {
  sqlite3 *db;
  /* Its column 0 is the id. Upwards "… WHERE id>=?1 ORDER BY id", downwards
   * "… WHERE id<=?1 ORDER BY id DESC". */
  const char *sql;
  bool down;
  sp_cancel *cancel; /* NULL: none */
  sqlite3_stmt *row; /* NULL at first */
  int64_t at;        /* id of the present row; 0: none */
} sp_row_cursor;

/* Move to the row of an id, or downwards to the row with the highest id that is
 * not above it. SPANPROF_ERR_FORMAT: there is no such row, so the store is
 * damaged. */
spanprof_status sp_row_cursor_move(sp_row_cursor *cursor, int64_t id);
void sp_row_cursor_dispose(sp_row_cursor *cursor);

#endif
