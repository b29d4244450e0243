/* The SQLite file: its schema, connections to it, and statements in a line. */
#ifndef SP_DATABASE_H
#define SP_DATABASE_H

#include <sqlite3.h>

#include "../../util/base.h"

/* Raised with the schema; an older file is brought up to it at the open. */
#define SP_DATABASE_VERSION 3

/* Open the file for writing; make it, or bring it up to date. `pages_max` 0:
 * no limit. SPANPROF_ERR_FORMAT: no store, or a newer one's; SPANPROF_ERR_IO.
 */
spanprof_status sp_database_create(sqlite3 **out, const char *path,
                                   uint64_t pages_max);

/* A further connection, for reading. */
spanprof_status sp_database_open(sqlite3 **out, const char *path);

/* Make a file of an earlier version able to give pages back to the volume, by
 * a copy of it. *done: it is able to. A file that is not there, or is no store,
 * is left alone. Nobody has it open. */
spanprof_status sp_database_make_shrinkable(const char *path, bool *done);

/* Copy the log into the file and make it empty. Readers that need the log are
 * waited for at most `wait_ms`; it stays then, which is no failure. */
spanprof_status sp_database_empty_log(sqlite3 *db, int wait_ms);

/* The bound of the log's bytes within one transaction, for those who write. */
typedef struct sp_log_bound {
  const char *path; /* of the log */
  uint64_t max;     /* 0: none */
  uint32_t steps;
} sp_log_bound;

/* Before each row. SPANPROF_ERR_LIMIT: the log is beyond its bound. */
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
