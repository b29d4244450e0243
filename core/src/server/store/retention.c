#include <inttypes.h>

#include "../../util/status.h"
#include "store_inside.h"

/* Of one transaction. */
#define RETAIN_BLOCKS_MAX 64
#define RETAIN_ROWS_MAX   5000
#define RETAIN_ROWS_FEW                                 \
  200 /* by bytes, so that little more goes than has to \
       */
#define RETAIN_DOCUMENTS 5

/* Parts of the limit of bytes: a log so large is emptied; of so much too much
 * some may be names without a profile, once so many of the blocks are gone. */
#define RETAIN_LOG_SHARE     8
#define RETAIN_NAMES_SHARE   16
#define RETAIN_DROPPED_SHARE 8

typedef struct retain_drop {
  sp_store *store;
  int64_t before_ns; /* what ended before; 0: the oldest, by bytes */
  int64_t bytes;     /* to be freed */
  int64_t blocks;    /* dropped */
  int64_t profiles;
  int64_t rows; /* of the other tables, likewise */
  bool by_bytes;
} retain_drop;

static spanprof_status retain_drop_some(sp_writer *writer, void *data) {
  retain_drop *drop = data;
  sqlite3_stmt *rows = NULL, *remove = NULL;
  int64_t freed = 0;
  int code = SQLITE_DONE, i;
  spanprof_status st = sp_database_prepare(
      writer->db, &rows,
      "SELECT id, bytes, profiles, until_ns FROM block WHERE ?1=0 OR "
      "until_ns<?1 ORDER BY until_ns LIMIT ?2");

  if (!st)
    st = sp_database_prepare(writer->db, &remove,
                             "DELETE FROM block WHERE id=?1");
  if (!st) {
    sqlite3_bind_int64(rows, 1, drop->before_ns);
    sqlite3_bind_int64(rows, 2, RETAIN_BLOCKS_MAX);
  }
  for (i = 0; !st && (drop->before_ns || freed < drop->bytes); i++) {
    st = sp_database_step(rows, &code);
    if (st || code != SQLITE_ROW)
      break;
    sqlite3_bind_int64(remove, 1, sqlite3_column_int64(rows, 0));
    st = sp_database_do(remove);
    freed += sqlite3_column_int64(rows, 1);
    drop->blocks++;
    drop->profiles += sqlite3_column_int64(rows, 2);
  }
  sqlite3_finalize(rows);
  sqlite3_finalize(remove);
  return st;
}

/* The oldest spans of traces and documents. Settings are for good. */
static spanprof_status retain_rows(sp_writer *writer, const char *sql,
                                   int64_t before, int64_t most,
                                   int64_t *rows) {
  sqlite3_stmt *remove = NULL;
  spanprof_status st = sp_database_prepare(writer->db, &remove, sql);

  if (!st) {
    sqlite3_bind_int64(remove, 1, before);
    sqlite3_bind_int64(remove, 2, most);
    st = sp_database_do(remove);
    *rows += sqlite3_changes(writer->db);
  }
  sqlite3_finalize(remove);
  return st;
}

static spanprof_status retain_drop_spans(sp_writer *writer, void *data) {
  retain_drop *drop = data;

  return retain_rows(
      writer,
      "DELETE FROM span WHERE (trace_hi, trace_lo, span_id) IN (SELECT "
      "trace_hi, trace_lo, span_id FROM span WHERE start_ns<?1 ORDER BY "
      "start_ns LIMIT ?2)",
      drop->before_ns, drop->by_bytes ? RETAIN_ROWS_FEW : RETAIN_ROWS_MAX,
      &drop->rows);
}

static spanprof_status retain_drop_annotations(sp_writer *writer, void *data) {
  retain_drop *drop = data;

  return retain_rows(
      writer,
      "DELETE FROM document WHERE (kind, key) IN (SELECT kind, key FROM "
      "document WHERE kind='annotation' AND time_ms<?1 ORDER BY time_ms LIMIT "
      "?2)",
      drop->before_ns / (int64_t)SP_NS_PER_MS, RETAIN_ROWS_MAX, &drop->rows);
}

static spanprof_status retain_drop_documents(sp_writer *writer, void *data) {
  retain_drop *drop = data;

  return retain_rows(
      writer,
      "DELETE FROM document WHERE (kind, key) IN (SELECT kind, key FROM "
      "document WHERE kind<>'settings' AND time_ms<=?1 ORDER BY time_ms LIMIT "
      "?2)",
      drop->before_ns / (int64_t)SP_NS_PER_MS, RETAIN_DOCUMENTS, &drop->rows);
}

/* Until there is no more of it, or the store ends. */
static spanprof_status retain_all(retain_drop *drop, sp_writer_fn fn) {
  spanprof_status st;

  do {
    drop->rows = 0;
    st = sp_writer_call(&drop->store->writer, fn, drop);
  } while (!st && drop->rows && !sp_store_ends(drop->store));
  return st;
}

/* Drop until there is no more of it; count and say what went. */
static spanprof_status retain_drop_run(sp_store *store, retain_drop *drop,
                                       const char *why) {
  spanprof_status st = SPANPROF_OK;
  int64_t before, all = 0, profiles = 0;

  do {
    before = all;
    drop->blocks = drop->profiles = 0;
    st = sp_writer_call(&store->writer, retain_drop_some, drop);
    if (!st) {
      all += drop->blocks;
      profiles += drop->profiles;
    }
  } while (!st && drop->before_ns && all > before && !sp_store_ends(store));
  drop->blocks = all;
  atomic_fetch_add(&store->uncollected, (uint64_t)all);
  sp_count(&store->dropped_blocks, (uint64_t)all);
  sp_count(&store->dropped_profiles, (uint64_t)profiles);
  if (all)
    sp_log_line(store->log, SPANPROF_LOG_INFO,
                "dropped %" PRId64 " profiles in %" PRId64 " blocks: %s",
                profiles, all, why);
  return st;
}

static spanprof_status retain_used(sp_store *store, int64_t *bytes) {
  int64_t pages = 0, spare = 0, page = 0;
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_take(store, &reader);

  if (st)
    return st;
  st = sp_database_number(reader->db, "PRAGMA page_count", &pages);
  if (!st)
    st = sp_database_number(reader->db, "PRAGMA freelist_count", &spare);
  if (!st)
    st = sp_database_number(reader->db, "PRAGMA page_size", &page);
  sp_store_reader_give(store, reader);
  *bytes = (pages - spare) * page;
  return st;
}

#define RETAIN_DOCUMENT_TIME                                         \
  "SELECT coalesce(min(time_ms)*1000000, 9223372036854775807) FROM " \
  "document WHERE kind<>'settings'"

/* The oldest of what goes by bytes: its time, INT64_MAX where there is none. */
static spanprof_status retain_oldest(sp_store *store, int64_t *block,
                                     int64_t *span, int64_t *document) {
  static const char *const queries[] = {
      "SELECT coalesce(min(until_ns), 9223372036854775807) FROM block",
      "SELECT coalesce(min(start_ns), 9223372036854775807) FROM span",
      RETAIN_DOCUMENT_TIME};
  int64_t *const out[] = {block, span, document};
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_take(store, &reader);
  size_t i;

  if (st)
    return st;
  for (i = 0; !st && i < SP_COUNT_OF(queries); i++)
    st = sp_database_number(reader->db, queries[i], out[i]);
  sp_store_reader_give(store, reader);
  return st;
}

/* Drop some of what is oldest, whatever it is. *none: nothing is left. */
static spanprof_status retain_drop_oldest(sp_store *store, int64_t bytes,
                                          int64_t *rows, bool *none) {
  retain_drop drop = {.store = store, .bytes = bytes, .by_bytes = true};
  int64_t block, span, document;
  spanprof_status st = retain_oldest(store, &block, &span, &document);

  *none = false;
  if (st)
    return st;
  if (span < block && span <= document) {
    drop.before_ns = block < document ? block : document;
    drop.before_ns += drop.before_ns == span;
    st = sp_writer_call(&store->writer, retain_drop_spans, &drop);
    atomic_fetch_add(&store->uncollected, (uint64_t)drop.rows);
  } else if (document < block) {
    drop.before_ns = document;
    st = sp_writer_call(&store->writer, retain_drop_documents, &drop);
  } else {
    st = retain_drop_run(store, &drop, "more bytes than the limit");
  }
  *none = drop.rows + drop.blocks == 0;
  *rows += drop.rows;
  return st;
}

spanprof_status sp_store_drop_by_age(sp_store *store) {
  const int64_t now = (int64_t)sp_clock_unix_ns(store->clock);
  retain_drop drop = {.store = store};
  spanprof_status st;

  if (!store->retention_ns || (int64_t)store->retention_ns >= now)
    return SPANPROF_OK;
  drop.before_ns = now - (int64_t)store->retention_ns;
  st = retain_drop_run(store, &drop, "older than the retention");
  if (!st)
    st = retain_all(&drop, retain_drop_spans);
  return st ? st : retain_all(&drop, retain_drop_annotations);
}

/* A log that takes a part of the limit is emptied, if readers let it. */
static spanprof_status retain_empty_log(sp_store *store) {
  return sp_store_log_bytes(store) > store->max_bytes / RETAIN_LOG_SHARE
             ? sp_database_empty_log(store->path)
             : SPANPROF_OK;
}

/* What of names and stacks no profile has any more looks as if it were in use.
 * Where it may be much of what is too much, it goes before further profiles do;
 * that reads a part of every block, so not after each few of them. */
static spanprof_status retain_collect(sp_store *store, int64_t over,
                                      bool *did) {
  const uint64_t dropped = atomic_load(&store->uncollected);
  sp_store_reader *reader;
  int64_t left = 0; /* blocks and spans: uncollected counts both */
  spanprof_status st = SPANPROF_OK;

  *did = false;
  if (!dropped || over < (int64_t)store->max_bytes / RETAIN_NAMES_SHARE)
    return SPANPROF_OK;
  st = sp_store_reader_take(store, &reader);
  if (st)
    return st;
  st = sp_database_number(reader->db,
                          "SELECT (SELECT count(*) FROM block)+(SELECT "
                          "count(*) FROM span)",
                          &left);
  sp_store_reader_give(store, reader);
  *did = !st && dropped >= (uint64_t)left / RETAIN_DROPPED_SHARE;
  return *did ? sp_store_collect(store) : st;
}

spanprof_status sp_store_drop_by_bytes(sp_store *store) {
  spanprof_status st = store->max_bytes ? retain_empty_log(store) : SPANPROF_OK;
  bool none = false, collected;
  int64_t bytes, most, rows = 0;

  /* The log that could not be emptied counts; but it grows by what is dropped,
   * and so no further. */
  most = (int64_t)(store->max_bytes -
                   sp_min_u64(sp_store_log_bytes(store), store->max_bytes / 4));
  while (!st && store->max_bytes && !none && !sp_store_ends(store)) {
    st = retain_used(store, &bytes);
    if (st || bytes <= most)
      break;
    st = retain_collect(store, bytes - most, &collected);
    if (!st && !collected)
      st = retain_drop_oldest(store, bytes - most, &rows, &none);
  }
  if (rows)
    sp_log_line(store->log, SPANPROF_LOG_INFO,
                "dropped %" PRId64 " spans of traces and documents: more bytes "
                "than the limit",
                rows);
  return st || !store->max_bytes ? st : retain_empty_log(store);
}

spanprof_status sp_store_drop_old(sp_store *store) {
  const spanprof_status st = sp_store_drop_by_age(store);

  return st ? st : sp_store_drop_by_bytes(store);
}
