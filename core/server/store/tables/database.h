/* The SQLite file: its schema, connections to it, and statements in a line. */
#ifndef SP_DATABASE_H
#define SP_DATABASE_H

#include <sqlite3.h>

#include "util/base.h"

/* Raised with the schema; an older file is brought up to it at the open. */
#define SP_DATABASE_VERSION 4

/* The id of a row: 63 bits, of which a store uses up few in its life. */
typedef uint64_t sp_row_id;

/* Open the file for writing; make it, or bring it up to date. `pages_max` 0:
 * no limit. SPANPROF_ERR_FORMAT: no store, or a newer one's; SPANPROF_ERR_IO.
 */
spanprof_status sp_database_create(sqlite3 **out, const char *path,
                                   uint64_t pages_max);

/* A further connection, for reading. */
spanprof_status sp_database_open(sqlite3 **out, const char *path);

/* Convert a file of an earlier version, by copying it, so that it can return
 * free pages to the volume. *done: it can now. A missing file, or one that is
 * not a store, is not touched. The file must not be open anywhere. */
spanprof_status sp_database_make_shrinkable(const char *path, bool *done);

/* Copy the log into the file and truncate it. Waits at most `wait_ms` for
 * readers that need the log; if they still need it, the log stays, which is not
 * a failure. */
spanprof_status sp_database_empty_log(sqlite3 *db, int wait_ms);

/* The limit of the log's size within one transaction, for writers. */
typedef struct sp_log_bound {
  const char *path; /* of the log */
  uint64_t max;     /* 0: none */
  uint32_t steps;
} sp_log_bound;

/* Called before each row. SPANPROF_ERR_LIMIT: the log exceeds its limit. */
spanprof_status sp_log_bound_check(sp_log_bound *bound);

/* The sentence and status of a failure that SQLite has just told. */
spanprof_status sp_database_fail(sqlite3 *db, int code);

/* Run statements without a result. */
spanprof_status sp_database_run(sqlite3 *db, const char *sql);

/* Kept for the connection's life: write NULL into *statement first. */
spanprof_status sp_database_prepare(sqlite3 *db, sqlite3_stmt **statement,
                                    const char *sql);

/* SQLITE_ROW or SQLITE_DONE in *code, or a failure. */
spanprof_status sp_database_step(sqlite3_stmt *statement, int *code);

/* A step to the end of a statement that gives no rows; it is reset. */
spanprof_status sp_database_do(sqlite3_stmt *statement);

/* The one number a query gives; 0 where it gives no row. */
spanprof_status sp_database_number(sqlite3 *db, const char *sql, int64_t *out);

#endif
