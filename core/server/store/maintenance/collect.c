/* Deletes names, stacks and series that nothing refers to any more.
 *
 * First the writer starts to record the ids that it gives out
 * (sp_intern_watch()). Transactions that begin after this see every profile
 * that was written before, and mark the ids that these profiles refer to. No
 * profile refers to a row whose id is neither marked nor recorded, and no later
 * profile can, because it gets new ids or recorded ones. The writer deletes
 * these rows in small transactions, between the uploads. The collection may
 * stop at any time: no remaining row refers to a deleted one. */
#include <inttypes.h>
#include <stdio.h>

#include "server/store/block/columns.h"
#include "server/store/store_inside.h"
#include "server/store/tables/stack_run.h"
#include "util/system/status.h"

/* Largest number of rows to read in one transaction, and to delete in one. */
#define COLLECT_ROWS_MAX    512
#define COLLECT_DELETED_MAX 128

static const char *const collect_tables[SP_INTERN_KINDS] = {
    [SP_INTERN_TEXT] = "text",         [SP_INTERN_LOCATION] = "location",
    [SP_INTERN_SOURCE] = "source",     [SP_INTERN_SERIES] = "series",
    [SP_INTERN_FUNCTION] = "function", [SP_INTERN_STACK] = "stack"};

typedef struct collect {
  sp_store *store;
  sp_id_set marked[SP_INTERN_KINDS];
  sp_block block;
  /* State of the deletion: */
  sp_intern_kind kind;
  int64_t at; /* ids up to this one are processed */
  size_t looked;
  uint64_t dropped;
} collect;

/* ---- Marking ---- */

static spanprof_status collect_mark_id(collect *all, sp_intern_kind kind,
                                       uint64_t id) {
  return id ? sp_id_set_add(&all->marked[kind], all->store->mem, id)
            : SPANPROF_OK;
}

typedef spanprof_status (*collect_row)(collect *all, sqlite3_stmt *row);

typedef struct collect_step {
  const char *sql; /* selects at most ?2 rows whose id is after ?1 in the order
                    * of the step; the id is column 0 */
  collect_row fn;
  int64_t begin;
} collect_step;

/* Process up to COLLECT_ROWS_MAX rows of one step, after the id *last. Sets
 * *last to the last id that was processed, and *count to the number of rows. */
static spanprof_status collect_rows_of(collect *all, const collect_step *step,
                                       sqlite3 *db, int64_t *last,
                                       size_t *count) {
  sqlite3_stmt *rows = NULL;
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_prepare(db, &rows, step->sql);

  *count = 0;
  if (!st) {
    sqlite3_bind_int64(rows, 1, *last);
    sqlite3_bind_int64(rows, 2, COLLECT_ROWS_MAX);
  }
  while (!st && !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    st = sp_store_is_closing(all->store) ? SPANPROF_ERR_STATE
                                         : step->fn(all, rows);
    *last = sqlite3_column_int64(rows, 0);
    ++*count;
  }
  sqlite3_finalize(rows);
  return st;
}

/* Process all rows of one step. Each reader is used for a few rows only,
 * because a long-lived one would keep the log from being truncated. Changes
 * between readers do no harm: compacted profiles move to blocks with higher
 * ids, and ids of new rows are recorded as used. */
static spanprof_status collect_each(collect *all, const collect_step *step) {
  int64_t last = step->begin;
  sp_store_reader *reader;
  spanprof_status st;
  size_t count;

  do {
    st = sp_store_reader_acquire(all->store, &reader);
    if (st)
      return st;
    st = collect_rows_of(all, step, reader->db, &last, &count);
    sp_store_reader_release(all->store, reader);
  } while (!st && count == COLLECT_ROWS_MAX);
  return st;
}

static sp_column_reader collect_reader(sqlite3_stmt *row, int column) {
  const void *bytes = sqlite3_column_blob(row, column);

  return sp_column_reader_of(bytes, (size_t)sqlite3_column_bytes(row, column));
}

/* Read `count` ids of texts, and mark them. */
static spanprof_status collect_texts(collect *all, sp_column_reader *reader,
                                     uint64_t count) {
  spanprof_status st = SPANPROF_OK;

  for (; !st && count && !reader->broken; count--)
    st = collect_mark_id(all, SP_INTERN_TEXT, sp_get_number(reader));
  if (!st && reader->broken)
    st = sp_fail(SPANPROF_ERR_FORMAT,
                 "the store is damaged: the labels of a series cannot be read");
  return st;
}

/* Read a block's series and samples. If it has totals, these are read instead
 * of the body. */
static spanprof_status collect_read_block(sp_block *block, sqlite3_stmt *row) {
  const int totals = sqlite3_column_bytes(row, 3);
  spanprof_status st = sp_block_read_head(block, sqlite3_column_blob(row, 2),
                                          (size_t)sqlite3_column_bytes(row, 2));

  if (st)
    return st;
  if (totals)
    return sp_block_read_totals(block, sqlite3_column_blob(row, 3),
                                (size_t)totals);
  st = sp_block_read_spans(block, sqlite3_column_blob(row, 4),
                           (size_t)sqlite3_column_bytes(row, 4));
  return st ? st
            : sp_block_read_body(block, sqlite3_column_blob(row, 5),
                                 (size_t)sqlite3_column_bytes(row, 5));
}

static spanprof_status collect_block(collect *all, sqlite3_stmt *row) {
  sp_block *block = &all->block;
  spanprof_status st = collect_mark_id(all, SP_INTERN_SOURCE,
                                       (uint64_t)sqlite3_column_int64(row, 1));
  size_t i;

  if (!st)
    st = collect_read_block(block, row);
  if (sp_store_skip_damaged(all->store, sqlite3_column_int64(row, 0), st))
    return SPANPROF_OK;
  for (i = 0; !st && i < block->series_count; i++)
    st = collect_mark_id(all, SP_INTERN_SERIES, block->series[i].id);
  for (i = 0; !st && i < block->sample_count; i++)
    st = collect_mark_id(all, SP_INTERN_STACK, block->samples[i].stack);
  return st;
}

static bool collect_has(const collect *all, sp_intern_kind kind,
                        sqlite3_stmt *row) {
  return sp_id_set_has(&all->marked[kind],
                       (sp_row_id)sqlite3_column_int64(row, 0));
}

/* A row of the table `stack` is a run of frames. For the frames of the run up
 * to the innermost marked one, mark the locations; also mark the caller of the
 * run. */
static spanprof_status collect_stack(collect *all, sqlite3_stmt *row) {
  const sp_id_set *marked = &all->marked[SP_INTERN_STACK];
  sp_stack_run run;
  spanprof_status st = sp_stack_run_read(&run, row);
  uint32_t count = run.count;

  while (count && !sp_id_set_has(marked, run.id + count - 1))
    count--;
  if (st || !count)
    return st;
  st = collect_mark_id(all, SP_INTERN_STACK, run.parent);
  while (!st && count)
    st = collect_mark_id(all, SP_INTERN_LOCATION, run.locations[--count]);
  return st;
}

static spanprof_status collect_location(collect *all, sqlite3_stmt *row) {
  sp_column_reader reader = collect_reader(row, 1);
  spanprof_status st = SPANPROF_OK;

  if (!collect_has(all, SP_INTERN_LOCATION, row))
    return SPANPROF_OK;
  sp_get_number(&reader); /* skip the address */
  while (!st && reader.at < reader.end && !reader.broken) {
    st = collect_mark_id(all, SP_INTERN_FUNCTION, sp_get_number(&reader));
    sp_get_signed(&reader); /* skip the line number */
  }
  return st;
}

static spanprof_status collect_function(collect *all, sqlite3_stmt *row) {
  spanprof_status st;

  if (!collect_has(all, SP_INTERN_FUNCTION, row))
    return SPANPROF_OK;
  st = collect_mark_id(all, SP_INTERN_TEXT,
                       (uint64_t)sqlite3_column_int64(row, 1));
  return st ? st
            : collect_mark_id(all, SP_INTERN_TEXT,
                              (uint64_t)sqlite3_column_int64(row, 2));
}

static spanprof_status collect_series(collect *all, sqlite3_stmt *row) {
  sp_column_reader reader = collect_reader(row, 1);

  return collect_has(all, SP_INTERN_SERIES, row)
             ? collect_texts(all, &reader, 2 * sp_get_count(&reader))
             : SPANPROF_OK;
}

/* Mark the texts of a source: its types with their units, the period's type,
 * and the labels. */
static spanprof_status collect_source(collect *all, sqlite3_stmt *row) {
  sp_column_reader reader = collect_reader(row, 1);
  spanprof_status st;

  if (!collect_has(all, SP_INTERN_SOURCE, row))
    return SPANPROF_OK;
  st = collect_texts(all, &reader, 2 * (sp_get_count(&reader) + 1));
  return st ? st : collect_texts(all, &reader, 2 * sp_get_count(&reader));
}

static spanprof_status collect_span(collect *all, sqlite3_stmt *row) {
  spanprof_status st = collect_mark_id(all, SP_INTERN_TEXT,
                                       (uint64_t)sqlite3_column_int64(row, 0));

  return st ? st
            : collect_mark_id(all, SP_INTERN_TEXT,
                              (uint64_t)sqlite3_column_int64(row, 1));
}

static spanprof_status collect_mark(collect *all) {
  static const collect_step steps[] = {
      {"SELECT id, source, head, totals, iif(totals IS NULL, spans, NULL), "
       "iif(totals IS NULL, body, NULL) FROM block WHERE id>?1 ORDER BY id "
       "LIMIT ?2",
       collect_block, 0},
      /* In descending order, because a frame's callees, which have higher ids,
       * mark the frame. */
      {"SELECT " SP_STACK_RUN_COLUMNS " FROM stack WHERE id<?1 ORDER BY id "
       "DESC LIMIT ?2",
       collect_stack, INT64_MAX},
      {"SELECT id, lines FROM location WHERE id>?1 ORDER BY id LIMIT ?2",
       collect_location, 0},
      {"SELECT id, name, file FROM function WHERE id>?1 ORDER BY id LIMIT ?2",
       collect_function, 0},
      {"SELECT id, labels FROM series WHERE id>?1 ORDER BY id LIMIT ?2",
       collect_series, 0},
      {"SELECT id, key FROM source WHERE id>?1 ORDER BY id LIMIT ?2",
       collect_source, 0},
      {"SELECT service, name FROM span WHERE ?1=0 GROUP BY service, name",
       collect_span, 0},
  };
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_block_init(&all->block, all->store->mem);
  for (i = 0; !st && i < SP_COUNT_OF(steps); i++)
    st = collect_each(all, &steps[i]);
  sp_block_dispose(&all->block);
  return st;
}

/* ---- On the writer's thread ---- */

static spanprof_status collect_begin(sp_writer *writer, void *data) {
  (void)data;
  sp_intern_watch(&writer->intern);
  return SPANPROF_OK;
}

static spanprof_status collect_end(sp_writer *writer, void *data) {
  (void)data;
  sp_intern_watch_end(&writer->intern);
  return SPANPROF_OK;
}

static bool collect_is_used(const collect *all, const sp_intern *intern,
                            sp_row_id id) {
  return sp_id_set_has(&all->marked[all->kind], id) ||
         sp_id_set_has(&intern->used[all->kind], id);
}

/* The statements of one transaction. */
typedef struct collect_sql {
  sqlite3_stmt *rows;
  sqlite3_stmt *remove;
  sqlite3_stmt *cut; /* shortens a run of frames */
} collect_sql;

static spanprof_status collect_remove(collect *all, sqlite3_stmt *remove) {
  sqlite3_bind_int64(remove, 1, all->at);
  all->dropped++;
  return sp_database_do(remove);
}

/* Delete the frames of a run after the innermost frame that is used. */
static spanprof_status collect_cut(collect *all, sp_writer *writer,
                                   const collect_sql *sql) {
  sp_buffer *more = &writer->intern.more;
  sp_stack_run run;
  spanprof_status st = sp_stack_run_read(&run, sql->rows);
  uint32_t count = run.count;

  while (count && !collect_is_used(all, &writer->intern, run.id + count - 1))
    count--;
  if (st || count == run.count)
    return st;
  if (!count)
    return collect_remove(all, sql->remove);
  all->dropped++;
  st = sp_stack_run_more(run.locations, count, more);
  if (st)
    return st;
  sqlite3_bind_int64(sql->cut, 1, all->at);
  if (count > 1)
    sqlite3_bind_blob64(sql->cut, 2, more->data, more->size, SQLITE_STATIC);
  else
    sqlite3_bind_null(sql->cut, 2);
  return sp_database_do(sql->cut);
}

static spanprof_status collect_row_of(collect *all, sp_writer *writer,
                                      const collect_sql *sql) {
  if (all->kind == SP_INTERN_STACK)
    return collect_cut(all, writer, sql);
  return collect_is_used(all, &writer->intern, (sp_row_id)all->at)
             ? SPANPROF_OK
             : collect_remove(all, sql->remove);
}

static spanprof_status collect_rows(collect *all, sp_writer *writer,
                                    const collect_sql *sql) {
  const uint64_t end = all->dropped + COLLECT_DELETED_MAX;
  int code = SQLITE_DONE;
  spanprof_status st = SPANPROF_OK;

  sqlite3_bind_int64(sql->rows, 1, all->at);
  sqlite3_bind_int64(sql->rows, 2, COLLECT_ROWS_MAX);
  while (!st && all->dropped < end &&
         !(st = sp_database_step(sql->rows, &code)) && code == SQLITE_ROW) {
    all->looked++;
    all->at = sqlite3_column_int64(sql->rows, 0);
    st = collect_row_of(all, writer, sql);
  }
  return st;
}

static spanprof_status collect_some(sp_writer *writer, void *data) {
  collect *all = data;
  const bool runs = all->kind == SP_INTERN_STACK;
  const char *table = collect_tables[all->kind];
  collect_sql sql = {0};
  char find[96], drop[80];
  spanprof_status st;

  all->looked = 0;
  if (writer->intern.missed)
    return SPANPROF_ERR_NOMEM;
  snprintf(find, sizeof find,
           "SELECT %s FROM %s WHERE id>?1 ORDER BY id LIMIT ?2",
           runs ? SP_STACK_RUN_COLUMNS : "id", table);
  snprintf(drop, sizeof drop, "DELETE FROM %s WHERE id=?1", table);
  st = sp_database_prepare(writer->db, &sql.rows, find);
  if (!st)
    st = sp_database_prepare(writer->db, &sql.remove, drop);
  if (!st && runs)
    st = sp_database_prepare(writer->db, &sql.cut,
                             "UPDATE stack SET more=?2 WHERE id=?1");
  if (!st)
    st = collect_rows(all, writer, &sql);
  sqlite3_finalize(sql.rows);
  sqlite3_finalize(sql.remove);
  sqlite3_finalize(sql.cut);
  return st;
}

static spanprof_status collect_sweep(collect *all) {
  spanprof_status st = SPANPROF_OK;
  int kind;

  for (kind = 0; !st && kind < SP_INTERN_KINDS; kind++) {
    all->kind = (sp_intern_kind)kind;
    all->at = 0;
    do
      st = sp_writer_call(&all->store->writer, collect_some, all);
    while (!st && all->looked && !sp_store_is_closing(all->store));
  }
  return st;
}

static bool collect_acquire(sp_store *store) {
  bool acquired;

  pthread_mutex_lock(&store->lock);
  acquired = !store->collecting;
  store->collecting = true;
  pthread_mutex_unlock(&store->lock);
  return acquired;
}

static void collect_release(sp_store *store) {
  pthread_mutex_lock(&store->lock);
  store->collecting = false;
  pthread_mutex_unlock(&store->lock);
}

spanprof_status sp_store_collect(sp_store *store) {
  collect all = {.store = store};
  spanprof_status st, end;
  int kind;

  if (!collect_acquire(store))
    return SPANPROF_OK;
  atomic_store(&store->uncollected, 0);
  st = sp_writer_call(&store->writer, collect_begin, NULL);
  if (!st)
    st = collect_mark(&all);
  if (!st)
    st = collect_sweep(&all);
  end = sp_writer_call(&store->writer, collect_end, NULL);
  if (all.dropped)
    sp_log_line(store->log, SPANPROF_LOG_DEBUG,
                "deleted %" PRIu64 " names, stacks and series without profiles",
                all.dropped);
  for (kind = 0; kind < SP_INTERN_KINDS; kind++)
    sp_id_set_dispose(&all.marked[kind], store->mem);
  collect_release(store);
  if (st == SPANPROF_ERR_STATE) /* the store is being closed */
    st = SPANPROF_OK;
  return st ? st : end;
}
