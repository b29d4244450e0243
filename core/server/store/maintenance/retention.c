#include <inttypes.h>
#include <stdlib.h>

#include "compact.h"
#include "server/store/rootless.h"
#include "util/system/status.h"

/* Data is deleted for two reasons: by age, because it is older than the
 * retention, or by bytes, because the files are too large.
 *
 * Largest numbers of blocks, rows and documents that one transaction deletes.
 * When deleting by bytes, one transaction deletes at most 1/PART of all blocks,
 * so that little more than necessary is deleted. */
#define RETAIN_BLOCKS_MAX  64
#define RETAIN_BLOCKS_PART 16
#define RETAIN_ROWS_MAX    5000
#define RETAIN_ROWS_FEW    200 /* instead of ROWS_MAX when deleting by bytes */
#define RETAIN_DOCUMENTS   5

/* When deleting by bytes, unused names and stacks are collected only after
 * 1/PART of the blocks and spans was deleted, because a collection reads every
 * block. */
#define RETAIN_DROPPED_PART 8

/* When deleting by bytes, single profiles are compacted first if there are at
 * least MIN of them and they are at least 1/PART of all blocks. */
#define RETAIN_SINGLES_MIN  32
#define RETAIN_SINGLES_PART 4
#define RETAIN_PACKED_PART  16 /* each block gets 1/PART of these profiles */

/* Delete 1/PART more than the limit requires, so that the next call is not
 * needed immediately. */
#define RETAIN_BELOW_PART 32

/* Shortest time between two log lines about deletions for the same reason. */
#define RETAIN_LINE_NS (600 * SP_NS_PER_S)

/* Data whose time is further in the future than this comes from a wrong clock.
 * It would never be deleted by age, so it is the first data that is deleted by
 * bytes. */
#define RETAIN_AHEAD_NS ((int64_t)86400 * 1000000000)

typedef struct retain_drop {
  sp_store *store;
  int64_t before_ns; /* delete data that ended before this time; 0: delete the
                      * oldest data, until `bytes` are freed */
  int64_t ahead_ns;  /* if not 0, delete only data after this time */
  int64_t bytes;     /* total size of the blocks to delete */
  int64_t most;      /* largest number of blocks to delete in one transaction */
  int64_t blocks;    /* number of deleted blocks */
  int64_t profiles;
  int64_t rows; /* rows deleted from other tables */
  bool by_bytes;
} retain_drop;

static spanprof_status retain_drop_some(sp_writer *writer, void *data) {
  retain_drop *drop = data;
  sqlite3_stmt *rows = NULL, *remove = NULL;
  int64_t freed = 0;
  int code = SQLITE_DONE, i;
  spanprof_status st = sp_database_prepare(
      writer->db, &rows,
      drop->ahead_ns
          ? "SELECT id, bytes, profiles FROM block WHERE until_ns>?1 ORDER BY "
            "until_ns DESC LIMIT ?2"
          : "SELECT id, bytes, profiles FROM block WHERE ?1=0 OR until_ns<?1 "
            "ORDER BY until_ns LIMIT ?2");

  if (!st)
    st = sp_database_prepare(writer->db, &remove,
                             "DELETE FROM block WHERE id=?1");
  if (!st) {
    sqlite3_bind_int64(rows, 1,
                       drop->ahead_ns ? drop->ahead_ns : drop->before_ns);
    sqlite3_bind_int64(rows, 2, drop->most);
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

/* Run a DELETE statement for documents. Its parameters are a time (?1)
 * and the largest number of rows to delete (?2). Adds the number of deleted
 * rows to *rows. */
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

static int retain_trace_order(const void *left, const void *right) {
  const sp_trace_id *a = left, *b = right;

  if (a->hi != b->hi)
    return a->hi < b->hi ? -1 : 1;
  return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* Update the table `rootless` for the traces of deleted spans. */
static spanprof_status retain_rootless(sp_writer *writer, sp_trace_id *traces,
                                       size_t count) {
  sp_rootless rootless = {.db = writer->db};
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (count)
    qsort(traces, count, sizeof *traces, retain_trace_order);
  for (i = 0; !st && i < count; i++)
    if (i == 0 || retain_trace_order(&traces[i], &traces[i - 1]) != 0)
      st = sp_rootless_update(&rootless, traces[i]);
  sp_rootless_dispose(&rootless);
  return st;
}

/* Like retain_rows(), but for a DELETE statement that returns the trace of each
 * deleted span. Updates the table `rootless`, too. */
static spanprof_status retain_spans(sp_writer *writer, const char *sql,
                                    int64_t before, int64_t most,
                                    int64_t *rows) {
  sp_trace_id *traces = sp_mem_new(writer->mem, (size_t)most * sizeof *traces);
  sqlite3_stmt *remove = NULL;
  spanprof_status st = traces ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  int code = SQLITE_DONE;
  size_t count = 0;

  if (!st)
    st = sp_database_prepare(writer->db, &remove, sql);
  if (!st) {
    sqlite3_bind_int64(remove, 1, before);
    sqlite3_bind_int64(remove, 2, most);
  }
  while (!st && !(st = sp_database_step(remove, &code)) && code == SQLITE_ROW &&
         count < (size_t)most)
    traces[count++] =
        (sp_trace_id){.hi = (uint64_t)sqlite3_column_int64(remove, 0),
                      .lo = (uint64_t)sqlite3_column_int64(remove, 1)};
  sqlite3_finalize(remove);
  *rows += (int64_t)count;
  if (!st)
    st = retain_rootless(writer, traces, count);
  sp_mem_free(writer->mem, traces);
  return st;
}

static spanprof_status retain_drop_spans(sp_writer *writer, void *data) {
  retain_drop *drop = data;

  return retain_spans(
      writer,
      "DELETE FROM span WHERE (trace_hi, trace_lo, span_id) IN (SELECT "
      "trace_hi, trace_lo, span_id FROM span WHERE start_ns<?1 ORDER BY "
      "start_ns LIMIT ?2) RETURNING trace_hi, trace_lo",
      drop->before_ns, drop->by_bytes ? RETAIN_ROWS_FEW : RETAIN_ROWS_MAX,
      &drop->rows);
}

static spanprof_status retain_drop_spans_ahead(sp_writer *writer, void *data) {
  retain_drop *drop = data;

  return retain_spans(
      writer,
      "DELETE FROM span WHERE (trace_hi, trace_lo, span_id) IN (SELECT "
      "trace_hi, trace_lo, span_id FROM span WHERE start_ns>?1 LIMIT ?2) "
      "RETURNING trace_hi, trace_lo",
      drop->ahead_ns, RETAIN_ROWS_FEW, &drop->rows);
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

/* Run `fn` in transactions until it deletes no rows, or the store is closed. */
static spanprof_status retain_all(retain_drop *drop, sp_writer_fn fn) {
  spanprof_status st;

  do {
    drop->rows = 0;
    st = sp_writer_call(&drop->store->writer, fn, drop);
  } while (!st && drop->rows && !sp_store_is_closing(drop->store));
  return st;
}

/* Add deletions to the counts, and log the counts unless the last line about
 * them was less than RETAIN_LINE_NS ago. */
static void retain_log(sp_store *store, sp_store_reason reason,
                       int64_t profiles, int64_t rows) {
  static const char *const reasons[SP_STORE_REASONS] = {
      [SP_STORE_OLD] = "they are older than --retention",
      [SP_STORE_LIMIT] = "the store has reached --max-bytes",
      [SP_STORE_VOLUME] = "the volume of the store is nearly full"};
  const uint64_t now = sp_clock_monotonic_ns(store->clock);
  sp_store_drops *drops = &store->drops[reason];
  sp_store_drops logged = {0};

  pthread_mutex_lock(&store->lock);
  drops->profiles += profiles;
  drops->rows += rows;
  if (drops->profiles + drops->rows && now >= drops->next_ns) {
    logged = *drops;
    *drops = (sp_store_drops){.next_ns = now + RETAIN_LINE_NS};
  }
  pthread_mutex_unlock(&store->lock);
  if (logged.profiles + logged.rows)
    sp_log_line(store->log, SPANPROF_LOG_INFO,
                "deleted %" PRId64 " profiles and %" PRId64
                " spans, annotations and ad hoc profiles: %s; this is logged "
                "at most every ten "
                "minutes",
                logged.profiles, logged.rows, reasons[reason]);
}

/* Delete blocks: all that match when deleting by age, or those of one
 * transaction when deleting by bytes. Counts the deletions. */
static spanprof_status retain_drop_run(sp_store *store, retain_drop *drop) {
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
  } while (!st && drop->before_ns && all > before &&
           !sp_store_is_closing(store));
  drop->blocks = all;
  atomic_fetch_add(&store->uncollected, (uint64_t)all);
  sp_count(&store->dropped_blocks, (uint64_t)all);
  sp_count(&store->dropped_profiles, (uint64_t)profiles);
  drop->profiles = profiles;
  return st;
}

#define RETAIN_DOCUMENT_TIME                                         \
  "SELECT coalesce(min(time_ms)*1000000, 9223372036854775807) FROM " \
  "document WHERE kind<>'settings'"

/* Get the times of the oldest block, span and document that may be deleted by
 * bytes, or INT64_MAX if there is none. */
static spanprof_status retain_oldest(sp_store *store, int64_t *block,
                                     int64_t *span, int64_t *document) {
  static const char *const queries[] = {
      "SELECT coalesce(min(until_ns), 9223372036854775807) FROM block",
      "SELECT coalesce(min(start_ns), 9223372036854775807) FROM span",
      RETAIN_DOCUMENT_TIME};
  int64_t *const out[] = {block, span, document};
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(store, &reader);
  size_t i;

  if (st)
    return st;
  for (i = 0; !st && i < SP_COUNT_OF(queries); i++)
    st = sp_database_number(reader->db, queries[i], out[i]);
  sp_store_reader_release(store, reader);
  return st;
}

/* Delete some data whose time is in the future. */
static spanprof_status retain_drop_ahead(sp_store *store, retain_drop *drop) {
  spanprof_status st;

  drop->ahead_ns = (int64_t)sp_clock_unix_ns(store->clock) + RETAIN_AHEAD_NS;
  st = sp_writer_call(&store->writer, retain_drop_spans_ahead, drop);
  if (!st && !drop->rows)
    st = retain_drop_run(store, drop);
  drop->ahead_ns = 0;
  return st;
}

/* Delete some of the oldest data of any kind. */
static spanprof_status retain_drop_oldest(sp_store *store, retain_drop *drop) {
  int64_t block, span, document;
  spanprof_status st = retain_drop_ahead(store, drop);

  if (st || drop->rows || drop->blocks)
    return st;
  st = retain_oldest(store, &block, &span, &document);
  if (st)
    return st;
  if (span < block && span <= document) {
    drop->before_ns = block < document ? block : document;
    drop->before_ns += drop->before_ns == span;
    st = sp_writer_call(&store->writer, retain_drop_spans, drop);
    atomic_fetch_add(&store->uncollected, (uint64_t)drop->rows);
  } else if (document < block) {
    drop->before_ns = document;
    st = sp_writer_call(&store->writer, retain_drop_documents, drop);
  } else {
    st = retain_drop_run(store, drop);
  }
  return st;
}

spanprof_status sp_store_drop_by_age(sp_store *store) {
  const int64_t now = (int64_t)sp_clock_unix_ns(store->clock);
  retain_drop drop = {.store = store, .most = RETAIN_BLOCKS_MAX};
  spanprof_status st;

  if (!store->retention_ns || (int64_t)store->retention_ns >= now)
    return SPANPROF_OK;
  drop.before_ns = now - (int64_t)store->retention_ns;
  st = retain_drop_run(store, &drop);
  retain_log(store, SP_STORE_OLD, drop.profiles, 0);
  if (!st)
    st = retain_all(&drop, retain_drop_spans);
  return st ? st : retain_all(&drop, retain_drop_annotations);
}

/* Query two numbers with the same reader. */
static spanprof_status retain_numbers(sp_store *store, const char *first_sql,
                                      int64_t *first, const char *second_sql,
                                      int64_t *second) {
  sp_store_reader *reader;
  spanprof_status st = sp_store_reader_acquire(store, &reader);

  if (st)
    return st;
  st = sp_database_number(reader->db, first_sql, first);
  if (!st)
    st = sp_database_number(reader->db, second_sql, second);
  sp_store_reader_release(store, reader);
  return st;
}

/* Delete the names and stacks of deleted profiles, if enough blocks and spans
 * were deleted since the last collection. They occupy space, so they are
 * deleted before further profiles. *did is set if a collection ran. */
static spanprof_status retain_collect(sp_store *store, int64_t *blocks,
                                      bool *did) {
  const uint64_t dropped = atomic_load(&store->uncollected);
  int64_t spans = 0; /* `uncollected` counts blocks and spans */
  spanprof_status st =
      retain_numbers(store, "SELECT count(*) FROM block", blocks,
                     "SELECT count(*) FROM span", &spans);

  *did = !st && (!atomic_exchange(&store->collected, true) ||
                 (dropped && dropped >= (uint64_t)(*blocks + spans) /
                                            RETAIN_DROPPED_PART));
  return *did ? sp_store_collect(store) : st;
}

/* Compact single profiles, if there are many. This reduces their size to a
 * quarter, but needs free space. The blocks are kept small, because the oldest
 * of them are deleted next. */
static spanprof_status retain_pack(sp_store *store,
                                   const sp_disk_budget *budget) {
  sp_compact_seen seen = {0, 0};
  int64_t singles = 0, blocks = 0;
  spanprof_status st;

  if (budget->free < budget->log_max)
    return SPANPROF_OK;
  st = retain_numbers(store, "SELECT count(*) FROM block WHERE profiles=1",
                      &singles, "SELECT count(*) FROM block", &blocks);
  if (st || singles < RETAIN_SINGLES_MIN ||
      singles < blocks / RETAIN_SINGLES_PART)
    return st;
  return sp_compact(store, true,
                    sp_min_u64((uint64_t)singles / RETAIN_PACKED_PART + 2,
                               SP_COMPACT_PROFILES_MAX),
                    &seen);
}

static int64_t retain_over(sp_store *store, const sp_disk_budget *budget) {
  return (int64_t)atomic_load(&store->writer.used_bytes) -
         (int64_t)(budget->data_high - budget->data_high / RETAIN_BELOW_PART);
}

/* Delete data until uploads need not wait, or until no data is left. */
static spanprof_status retain_shrink(sp_store *store,
                                     const sp_disk_budget *budget,
                                     int64_t *profiles, int64_t *rows) {
  spanprof_status st = retain_pack(store, budget);
  bool collected, none = false;
  int64_t over, blocks = 0;

  while (!st && !none && !sp_store_is_closing(store) &&
         (over = retain_over(store, budget)) > 0) {
    retain_drop drop = {.store = store, .bytes = over, .by_bytes = true};

    st = retain_collect(store, &blocks, &collected);
    if (st || collected)
      continue;
    drop.most = 1 + (int64_t)sp_min_u64((uint64_t)blocks / RETAIN_BLOCKS_PART,
                                        RETAIN_BLOCKS_MAX);
    st = retain_drop_oldest(store, &drop);
    none = drop.rows + drop.blocks == 0;
    *profiles += drop.profiles;
    *rows += drop.rows;
  }
  return st;
}

static spanprof_status retain_fit(sp_store *store, const sp_disk_budget *budget,
                                  int64_t *profiles, int64_t *rows) {
  spanprof_status st = SPANPROF_OK;

  if (atomic_load(&store->writer.used_bytes) > budget->data_high)
    st = retain_shrink(store, budget, profiles, rows);
  return st ? st : sp_store_return_pages(store);
}

spanprof_status sp_store_drop_by_bytes(sp_store *store) {
  int64_t profiles = 0, rows = 0;
  sp_disk_budget budget;
  spanprof_status st;

  pthread_mutex_lock(&store->shrinking);
  sp_store_budget(store, &budget);
  sp_disk_reserve_update(&budget, store->path);
  st = retain_fit(store, &budget, &profiles, &rows);
  if (st == SPANPROF_ERR_IO) { /* no space is left, not even for the log */
    sp_disk_reserve_delete(store->path);
    st = retain_fit(store, &budget, &profiles, &rows);
  }
  retain_log(store, budget.by_volume ? SP_STORE_VOLUME : SP_STORE_LIMIT,
             profiles, rows);
  sp_store_budget(store, &budget);
  sp_disk_reserve_update(&budget, store->path);
  pthread_mutex_unlock(&store->shrinking);
  return st;
}

spanprof_status sp_store_drop_old(sp_store *store) {
  const spanprof_status st = sp_store_drop_by_age(store);

  return st ? st : sp_store_drop_by_bytes(store);
}
