#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/system/status.h"

/* Added by version 2: filters of many blocks (wide_filter.h). */
#define DATABASE_WIDE_FILTER                                               \
  "CREATE TABLE wide_filter(id INTEGER PRIMARY KEY, first_block INT NOT "  \
  "NULL, last_block INT NOT NULL, from_ns INT NOT NULL, until_ns INT NOT " \
  "NULL, bytes INT NOT NULL, first_piece INT NOT NULL);"                   \
  "CREATE TABLE wide_filter_piece(id INTEGER PRIMARY KEY, bits BLOB NOT "  \
  "NULL);"

/* Added by version 3: repeated uploads are found by the hash of their content
 * (`digest`) if their block has one profile. Profiles in other blocks, and
 * blocks of earlier versions, are found by the heads of the blocks. */
#define DATABASE_DIGESTS                                                \
  "CREATE INDEX block_digest ON block(source, until_ns, digest) WHERE " \
  "digest IS NOT NULL;"                                                 \
  "CREATE INDEX block_heads ON block(source, until_ns, from_ns) WHERE " \
  "digest IS NULL;"

/* Added by version 4: runs of frames (stack_run.h). */
#define DATABASE_RUNS "ALTER TABLE stack ADD COLUMN more BLOB;"

/* Added by version 5: lists of traces read and count root spans without their
 * traces' other spans. */
#define DATABASE_ROOTS                                                    \
  "CREATE INDEX span_root ON span(start_ns, duration_ns, service, name) " \
  "WHERE parent_id=0;"

/* Added by version 6: traces without a stored root span (../rootless.h). The
 * index finds the root spans of a trace. */
#define DATABASE_ROOTLESS                                                   \
  "CREATE INDEX span_trace_root ON span(trace_hi, trace_lo) WHERE "         \
  "parent_id=0;"                                                            \
  "CREATE TABLE rootless(r_hi INT NOT NULL, r_lo INT NOT NULL,"             \
  " r_id INT NOT NULL, r_start INT NOT NULL, PRIMARY KEY(r_hi, r_lo))"      \
  " WITHOUT ROWID;"                                                         \
  "CREATE INDEX rootless_start ON rootless(r_start);"                       \
  "INSERT INTO rootless SELECT trace_hi, trace_lo, span_id, min(start_ns) " \
  "FROM span GROUP BY trace_hi, trace_lo HAVING NOT EXISTS(SELECT 1 FROM "  \
  "span a WHERE a.trace_hi=span.trace_hi AND a.trace_lo=span.trace_lo AND " \
  "a.parent_id=0);"

/* Every profile is in a block. A new profile has its own block until it is
 * compacted. */
static const char database_schema[] =
    "CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE function(id INTEGER PRIMARY KEY, name INT NOT NULL,"
    " file INT NOT NULL, start_line INT NOT NULL,"
    " UNIQUE(name, file, start_line));"
    "CREATE TABLE location(id INTEGER PRIMARY KEY, lines BLOB NOT NULL UNIQUE);"
    "CREATE TABLE stack(id INTEGER PRIMARY KEY, parent INT NOT NULL,"
    " location INT NOT NULL, UNIQUE(parent, location));"
    "CREATE TABLE source(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, source INT NOT NULL,"
    " labels BLOB NOT NULL, UNIQUE(source, labels));"
    "CREATE TABLE block(id INTEGER PRIMARY KEY, source INT NOT NULL,"
    " from_ns INT NOT NULL, until_ns INT NOT NULL, profiles INT NOT NULL,"
    " bytes INT NOT NULL, digest INT, head BLOB NOT NULL, filter BLOB, totals "
    "BLOB,"
    " spans BLOB, body BLOB NOT NULL);"
    "CREATE INDEX block_time ON block(source, until_ns, from_ns, profiles);"
    "CREATE INDEX block_age ON block(until_ns, bytes, "
    "profiles);" DATABASE_DIGESTS
    "CREATE TABLE span(trace_hi INT NOT NULL, trace_lo INT NOT NULL,"
    " span_id INT NOT NULL, parent_id INT NOT NULL, service INT NOT NULL,"
    " name INT NOT NULL, start_ns INT NOT NULL, duration_ns INT NOT NULL,"
    " kind INT NOT NULL, status INT NOT NULL, message TEXT, attributes TEXT,"
    " PRIMARY KEY(trace_hi, trace_lo, span_id)) WITHOUT ROWID;"
    "CREATE INDEX span_start ON span(start_ns);"
    "CREATE INDEX span_id ON span(span_id);"
    "CREATE TABLE document(kind TEXT NOT NULL, key TEXT NOT NULL,"
    " time_ms INT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(kind, key))"
    " WITHOUT ROWID;" DATABASE_WIDE_FILTER DATABASE_RUNS DATABASE_ROOTS
        DATABASE_ROOTLESS "PRAGMA application_id=0x7370616e;" /* "span" */
    "PRAGMA user_version=6;";

/* The statements that upgrade each version to the next. */
static const char *const database_steps[SP_DATABASE_VERSION] = {
    [1] = DATABASE_WIDE_FILTER "PRAGMA user_version=2;",
    [2] = "ALTER TABLE block ADD COLUMN digest INT;" DATABASE_DIGESTS
          "PRAGMA user_version=3;",
    [3] = DATABASE_RUNS "PRAGMA user_version=4;",
    [4] = DATABASE_ROOTS "PRAGMA user_version=5;",
    [5] = DATABASE_ROOTLESS "PRAGMA user_version=6;",
};

#define DATABASE_APPLICATION 0x7370616e

/* Longest wait for the lock of another connection. */
#define DATABASE_WAIT_MS 5000

/* The mode of auto_vacuum in which free pages can be returned to the volume. */
#define DATABASE_SHRINKS "INCREMENTAL"

/* Number of inserted rows between two checks of the log's size. */
#define DATABASE_BOUND_STEPS 64

spanprof_status sp_database_fail(sqlite3 *db, int code) {
  const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);

  switch (code & 0xff) {
  case SQLITE_NOMEM:
    return SPANPROF_ERR_NOMEM;
  case SQLITE_IOERR:
    if (db && sqlite3_system_errno(db) == ENOSPC)
      return sp_database_fail(db, SQLITE_FULL);
    return sp_fail(SPANPROF_ERR_IO, "reading or writing the store failed: %s",
                   why);
  case SQLITE_FULL:
    return sp_fail(SPANPROF_ERR_IO,
                   "the disk of the store is full: free space on it");
  case SQLITE_INTERRUPT:
    return sp_fail(SPANPROF_ERR_TIMEOUT, "the query was cancelled");
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
    return sp_fail(SPANPROF_ERR_FORMAT, "the store is damaged: %s", why);
  default:
    return sp_fail(SPANPROF_ERR_IO, "the store failed: %s", why);
  }
}

spanprof_status sp_database_run(sqlite3 *db, const char *sql) {
  const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

  return code == SQLITE_OK ? SPANPROF_OK : sp_database_fail(db, code);
}

spanprof_status sp_database_prepare(sqlite3 *db, sqlite3_stmt **statement,
                                    const char *sql) {
  int code;

  if (*statement)
    return SPANPROF_OK;
  code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement,
                            NULL);
  return code == SQLITE_OK ? SPANPROF_OK : sp_database_fail(db, code);
}

spanprof_status sp_database_step(sqlite3_stmt *statement, int *code) {
  *code = sqlite3_step(statement);
  if (*code == SQLITE_ROW || *code == SQLITE_DONE)
    return SPANPROF_OK;
  return sp_database_fail(sqlite3_db_handle(statement), *code);
}

spanprof_status sp_database_do(sqlite3_stmt *statement) {
  int code;
  spanprof_status st = sp_database_step(statement, &code);

  sqlite3_reset(statement);
  return st;
}

spanprof_status sp_database_number(sqlite3 *db, const char *sql, int64_t *out) {
  sqlite3_stmt *statement = NULL;
  spanprof_status st = sp_database_prepare(db, &statement, sql);
  int code = SQLITE_DONE;

  *out = 0;
  if (!st)
    st = sp_database_step(statement, &code);
  if (!st && code == SQLITE_ROW)
    *out = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return st;
}

static spanprof_status database_connect(sqlite3 **out, const char *path,
                                        int flags) {
  int code = sqlite3_open_v2(path, out, flags | SQLITE_OPEN_NOMUTEX, NULL);
  spanprof_status st;

  if (code == SQLITE_OK)
    return SPANPROF_OK;
  st = sp_fail(code == SQLITE_NOMEM ? SPANPROF_ERR_NOMEM : SPANPROF_ERR_IO,
               "cannot open the store %s: %s", path, sqlite3_errstr(code));
  sqlite3_close(*out);
  *out = NULL;
  return st;
}

/* Check the content of the file: create the schema if the file is empty,
 * upgrade an earlier version, and refuse anything else. */
static spanprof_status database_check(sqlite3 *db, const char *path) {
  int64_t tables, application, version;
  spanprof_status st;

  st = sp_database_number(db, "SELECT count(*) FROM sqlite_master", &tables);
  if (!st)
    st = sp_database_number(db, "PRAGMA application_id", &application);
  if (!st)
    st = sp_database_number(db, "PRAGMA user_version", &version);
  if (st == SPANPROF_ERR_FORMAT)
    return sp_fail(st, "%s is not a spanprof store", path);
  if (st)
    return st;
  if (tables == 0)
    return sp_database_run(db, database_schema);
  if (application != DATABASE_APPLICATION)
    return sp_fail(SPANPROF_ERR_FORMAT, "%s is not a spanprof store", path);
  if (version > SP_DATABASE_VERSION)
    return sp_fail(SPANPROF_ERR_FORMAT,
                   "the store %s has version %" PRId64
                   ", written by a newer spanprof-server; this one reads up to "
                   "%d",
                   path, version, SP_DATABASE_VERSION);
  for (; !st && 0 < version && version < SP_DATABASE_VERSION; version++)
    st = sp_database_run(db, database_steps[version]);
  return st;
}

spanprof_status sp_database_create(sqlite3 **out, const char *path,
                                   uint64_t pages_max) {
  char limit[64];
  spanprof_status st =
      database_connect(out, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

  if (st)
    return st;
  /* The writer waits, too, because a reader that finds a change of the log's
   * index in progress holds the writer's lock for a short time. */
  sqlite3_busy_timeout(*out, DATABASE_WAIT_MS);
  snprintf(limit, sizeof limit, "PRAGMA max_page_count=%" PRIu64, pages_max);
  /* synchronous=FULL syncs the log at every commit. */
  st = sp_database_run(*out, "PRAGMA page_size=4096;"
                             "PRAGMA auto_vacuum=" DATABASE_SHRINKS ";"
                             "PRAGMA journal_mode=WAL;"
                             "PRAGMA synchronous=FULL;"
                             "PRAGMA wal_autocheckpoint=0;"
                             "PRAGMA cache_size=-16384;"
                             "PRAGMA temp_store=MEMORY;");
  if (st == SPANPROF_ERR_FORMAT)
    st = sp_fail(st, "%s is not a spanprof store", path);
  if (!st && pages_max)
    st = sp_database_run(*out, limit);
  if (!st)
    st = sp_database_run(*out, "BEGIN IMMEDIATE");
  if (!st)
    st = database_check(*out, path);
  if (!st)
    st = sp_database_run(*out, "COMMIT");
  if (st) {
    sqlite3_close(*out);
    *out = NULL;
  }
  return st;
}

spanprof_status sp_database_open(sqlite3 **out, const char *path) {
  spanprof_status st = database_connect(out, path, SQLITE_OPEN_READONLY);

  if (!st)
    sqlite3_busy_timeout(*out, DATABASE_WAIT_MS);
  if (!st)
    st = sp_database_run(*out, "PRAGMA cache_size=-4096;");
  if (st && *out) {
    sqlite3_close(*out);
    *out = NULL;
  }
  return st;
}

/* Replace the file by a complete copy. The file's log is deleted before,
 * because SQLite would read it as the copy's log. */
static spanprof_status database_replace(const char *path, const char *copy) {
  char log[4096];
  int file = open(copy, O_RDWR | O_CLOEXEC);
  int failed = file < 0 || fchmod(file, 0600) || fsync(file);

  if (file >= 0)
    close(file);
  snprintf(log, sizeof log, "%s-wal", path);
  if (!failed && access(log, F_OK) == 0)
    failed = 1;
  if (!failed)
    failed = rename(copy, path);
  return failed ? sp_fail(SPANPROF_ERR_IO, "cannot replace %s: %m", path)
                : SPANPROF_OK;
}

static spanprof_status database_copy(sqlite3 *db, const char *copy) {
  sqlite3_stmt *vacuum = NULL;
  spanprof_status st =
      sp_database_run(db, "PRAGMA auto_vacuum=" DATABASE_SHRINKS);

  unlink(copy);
  if (!st)
    st = sp_database_prepare(db, &vacuum, "VACUUM INTO ?1");
  if (!st) {
    sqlite3_bind_text(vacuum, 1, copy, -1, SQLITE_STATIC);
    st = sp_database_do(vacuum);
  }
  sqlite3_finalize(vacuum);
  return st;
}

spanprof_status sp_database_make_shrinkable(const char *path, bool *done) {
  int64_t application = 0, mode = 0;
  char copy[4096];
  sqlite3 *db = NULL;
  spanprof_status st = database_connect(&db, path, SQLITE_OPEN_READWRITE);

  *done = true;
  if (st)
    return SPANPROF_OK;
  snprintf(copy, sizeof copy, "%s.copy", path);
  st = sp_database_number(db, "PRAGMA application_id", &application);
  if (!st)
    st = sp_database_number(db, "PRAGMA auto_vacuum", &mode);
  if (st || application != DATABASE_APPLICATION || mode == 2) {
    sqlite3_close(db);
    return SPANPROF_OK; /* sp_database_create() reports the error */
  }
  *done = false;
  st = database_copy(db, copy);
  sqlite3_close(db);
  if (!st)
    st = database_replace(path, copy);
  *done = !st;
  if (st)
    unlink(copy);
  return st;
}

spanprof_status sp_database_empty_log(sqlite3 *db, int wait_ms) {
  int code;

  sqlite3_busy_timeout(db, wait_ms);
  code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                   NULL);
  sqlite3_busy_timeout(db, DATABASE_WAIT_MS);
  return code == SQLITE_OK || code == SQLITE_BUSY ? SPANPROF_OK
                                                  : sp_database_fail(db, code);
}

spanprof_status sp_log_bound_check(sp_log_bound *bound) {
  struct stat file;

  if (!bound->max || bound->steps++ % DATABASE_BOUND_STEPS != 0 ||
      stat(bound->path, &file) || (uint64_t)file.st_size <= bound->max)
    return SPANPROF_OK;
  return sp_fail(SPANPROF_ERR_LIMIT,
                 "the upload needs more disk space than the store has: "
                 "raise --max-bytes, free space on the volume, or send "
                 "smaller uploads");
}
