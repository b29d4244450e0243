/* Finds rows of one table by ids that ascend, or descend, from call to call.
 * Steps through the rows to a nearby id, and searches for a distant one. */
#ifndef SP_ROW_CURSOR_H
#define SP_ROW_CURSOR_H

#include "database.h"
#include "server/model/cancel.h"

typedef struct sp_row_cursor {
  sqlite3 *db;
  /* The query. Its column 0 is the id. Ascending: "… WHERE id>=?1 ORDER BY id".
   * Descending: "… WHERE id<=?1 ORDER BY id DESC". */
  const char *sql;
  bool down;
  sp_cancel *cancel; /* NULL: the search cannot be cancelled */
  sqlite3_stmt *row; /* the statement; NULL: not prepared yet */
  int64_t at;        /* id of the current row; 0: none */
} sp_row_cursor;

/* Move to the row with this id, or if `down` is set, to the row with the
 * highest id that is not above this id. Returns SPANPROF_ERR_FORMAT if there is
 * no such row, because the store is damaged then. */
spanprof_status sp_row_cursor_move(sp_row_cursor *cursor, int64_t id);
void sp_row_cursor_dispose(sp_row_cursor *cursor);

#endif
