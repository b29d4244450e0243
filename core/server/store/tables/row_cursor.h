/* Finds rows of one table by ascending or descending ids. Steps through the
 * rows to an id nearby, and searches for a distant one. */
#ifndef SP_ROW_CURSOR_H
#define SP_ROW_CURSOR_H

#include "database.h"
#include "server/model/cancel.h"

typedef struct sp_row_cursor {
  sqlite3 *db;
  /* Column 0 must be the id. Ascending: "… WHERE id>=?1 ORDER BY id".
   * Descending: "… WHERE id<=?1 ORDER BY id DESC". */
  const char *sql;
  bool down;
  sp_cancel *cancel; /* NULL: none */
  sqlite3_stmt *row; /* the statement; NULL: not prepared yet */
  int64_t at;        /* id of the current row; 0: none */
} sp_row_cursor;

/* Move to the row of an id; descending, to the row with the highest id that is
 * not above it. SPANPROF_ERR_FORMAT: there is no such row, so the store is
 * damaged. */
spanprof_status sp_row_cursor_move(sp_row_cursor *cursor, int64_t id);
void sp_row_cursor_dispose(sp_row_cursor *cursor);

#endif
