/* The SQLite file: its schema, connections to it, and helpers for statements.
 */
#ifndef SP_DATABASE_H
#define SP_DATABASE_H

#include <sqlite3.h>

#include "util/base.h"

/* Raised with each change of the schema. An older file is upgraded when it is
 * opened. */
#define SP_DATABASE_VERSION 6

/* The id of a row, of 63 bits. A store cannot use them up. */
typedef uint64_t sp_row_id;

/* Open the file for writing, and create or upgrade it if needed. `pages_max`
 * limits the file's pages; 0: no limit. Returns SPANPROF_ERR_FORMAT if the file
 * is not a store or has a newer version, and SPANPROF_ERR_IO if it cannot be
 * opened. */
spanprof_status sp_database_create(sqlite3 **out, const char *path,
                                   uint64_t pages_max);

/* Open another connection, for reading. Returns SPANPROF_ERR_IO on failure. */
spanprof_status sp_database_open(sqlite3 **out, const char *path);

/* Convert a file of an earlier version, by copying it, so that it can return
 * free pages to the volume. *done is set if the file can do so now. A file that
 * is missing or is not a store is not changed. The file must not be open
 * anywhere. */
spanprof_status sp_database_make_shrinkable(const char *path, bool *done);

/* Copy the log into the file, and truncate the log. Waits at most `wait_ms` for
 * readers that need the log. If they still need it, the log stays as it is and
 * SPANPROF_OK is returned. */
spanprof_status sp_database_empty_log(sqlite3 *db, int wait_ms);

/* The limit of the log's size within one transaction, for writers. */
typedef struct sp_log_bound {
  const char *path; /* path of the log */
  uint64_t max;     /* 0: no limit */
  uint32_t steps;
} sp_log_bound;

/* The writer calls this before each insertion. Returns SPANPROF_ERR_LIMIT if
 * the log exceeds its limit. */
spanprof_status sp_log_bound_check(sp_log_bound *bound);

/* Set the error text from SQLite's last error, and return the status for
 * SQLite's result code. */
spanprof_status sp_database_fail(sqlite3 *db, int code);

/* Run statements that return no rows. */
spanprof_status sp_database_run(sqlite3 *db, const char *sql);

/* Prepare *statement if it is NULL. The caller finalizes it before the
 * connection is closed. */
spanprof_status sp_database_prepare(sqlite3 *db, sqlite3_stmt **statement,
                                    const char *sql);

/* Call sqlite3_step() once. *code is set to SQLITE_ROW or SQLITE_DONE. Returns
 * the status of sp_database_fail() for other result codes. */
spanprof_status sp_database_step(sqlite3_stmt *statement, int *code);

/* Run a statement that returns no rows, and reset it. */
spanprof_status sp_database_do(sqlite3_stmt *statement);

/* Get the number in the first row and column, or 0 if there is no row. */
spanprof_status sp_database_number(sqlite3 *db, const char *sql, int64_t *out);

#endif
