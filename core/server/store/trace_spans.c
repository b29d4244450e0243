#include <string.h>

#include "store_inside.h"

typedef struct spans_call {
  const sp_store_span *spans;
  size_t count;
} spans_call;

static spanprof_status spans_insert(sp_writer *writer, sqlite3_stmt *insert,
                                    const sp_store_span *span) {
  sp_row_id service, name;
  spanprof_status st = sp_log_bound_check(&writer->bound);

  if (!st)
    st = sp_intern_bytes(&writer->intern, SP_INTERN_TEXT, 0, span->service,
                         strlen(span->service), &service);
  if (!st)
    st = sp_intern_bytes(&writer->intern, SP_INTERN_TEXT, 0, span->name,
                         strlen(span->name), &name);
  if (st)
    return st;
  sqlite3_bind_int64(insert, 1, (int64_t)span->trace_id.hi);
  sqlite3_bind_int64(insert, 2, (int64_t)span->trace_id.lo);
  sqlite3_bind_int64(insert, 3, (int64_t)span->span_id);
  sqlite3_bind_int64(insert, 4, (int64_t)span->parent_id);
  sqlite3_bind_int64(insert, 5, (int64_t)service);
  sqlite3_bind_int64(insert, 6, (int64_t)name);
  sqlite3_bind_int64(insert, 7, span->start_ns);
  sqlite3_bind_int64(insert, 8, span->duration_ns);
  sqlite3_bind_int64(insert, 9, span->kind);
  sqlite3_bind_int64(insert, 10, span->status);
  sqlite3_bind_text(insert, 11, span->status_message, -1, SQLITE_STATIC);
  sqlite3_bind_text(insert, 12, span->attributes, -1, SQLITE_STATIC);
  return sp_database_do(insert);
}

static spanprof_status spans_write(sp_writer *writer, void *data) {
  const spans_call *call = data;
  sqlite3_stmt *insert = NULL;
  spanprof_status st =
      sp_database_prepare(writer->db, &insert,
                          "INSERT OR REPLACE INTO span(trace_hi, trace_lo, "
                          "span_id, parent_id, service, name, start_ns, "
                          "duration_ns, kind, status, message, attributes) "
                          "VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  size_t i;

  for (i = 0; !st && i < call->count; i++)
    st = spans_insert(writer, insert, &call->spans[i]);
  sqlite3_finalize(insert);
  return st;
}

spanprof_status sp_store_put_spans(sp_store *store, const sp_store_span *spans,
                                   size_t count) {
  spans_call call = {spans, count};

  return count ? sp_store_write(store, spans_write, &call) : SPANPROF_OK;
}

#define SPANS_COLUMNS                                                         \
  "SELECT trace_hi, trace_lo, span_id, parent_id, s.text, n.text, start_ns, " \
  "duration_ns, kind, status, message, attributes FROM "

/* Write the tables of the query: the list of traces without duplicates, joined
 * with `span`. The join makes SQLite use the table's primary key, which it does
 * not use for a list of pairs in a WHERE clause. */
static void spans_traces(const sp_store_span_filter *filter, sp_buffer *sql) {
  size_t i;

  for (i = 0; i < filter->trace_count; i++)
    sp_buffer_format(
        sql, "%s(%lld,%lld)",
        i ? "," : "(SELECT DISTINCT column1 hi, column2 lo FROM (VALUES ",
        (long long)filter->trace_ids[i].hi, (long long)filter->trace_ids[i].lo);
  sp_buffer_text(sql, i ? ")) CROSS JOIN span ON trace_hi=hi AND trace_lo=lo"
                        : "span");
}

/* Write the query. Lists of ids are written into it as numbers. */
static void spans_sql(const sp_store_span_filter *filter, sp_buffer *sql) {
  size_t i;

  sp_buffer_text(sql, SPANS_COLUMNS);
  spans_traces(filter, sql);
  sp_buffer_text(sql, " JOIN text s ON s.id=service JOIN text n ON n.id=name "
                      "WHERE duration_ns>=?1");
  if (filter->from_ns)
    sp_buffer_text(sql, " AND start_ns>=?2");
  if (filter->until_ns)
    sp_buffer_text(sql, " AND start_ns<=?3");
  if (filter->service)
    sp_buffer_text(sql, " AND service=(SELECT id FROM text WHERE text=?4)");
  if (filter->name)
    sp_buffer_text(sql, " AND name=(SELECT id FROM text WHERE text=?5)");
  if (filter->roots_only)
    sp_buffer_text(sql, " AND parent_id=0");
  for (i = 0; i < filter->span_count; i++)
    sp_buffer_format(sql, "%s%lld", i ? "," : " AND span_id IN (",
                     (long long)filter->span_ids[i]);
  sp_buffer_text(sql, i ? ")" : "");
  sp_buffer_text(sql, filter->order == SP_STORE_SPANS_SLOWEST
                          ? " ORDER BY duration_ns DESC, start_ns DESC"
                          : " ORDER BY start_ns DESC");
  if (filter->limit)
    sp_buffer_format(sql, " LIMIT %zu OFFSET %zu", filter->limit,
                     filter->offset);
}

static const char *spans_text(sqlite3_stmt *row, int column) {
  const char *text = (const char *)sqlite3_column_text(row, column);

  return text ? text : "";
}

static bool spans_pass(sqlite3_stmt *row, sp_store_span_fn fn, void *data) {
  const sp_store_span span = {
      .trace_id = {.hi = (uint64_t)sqlite3_column_int64(row, 0),
                   .lo = (uint64_t)sqlite3_column_int64(row, 1)},
      .span_id = (uint64_t)sqlite3_column_int64(row, 2),
      .parent_id = (uint64_t)sqlite3_column_int64(row, 3),
      .service = spans_text(row, 4),
      .name = spans_text(row, 5),
      .start_ns = sqlite3_column_int64(row, 6),
      .duration_ns = sqlite3_column_int64(row, 7),
      .kind = sqlite3_column_int(row, 8),
      .status = sqlite3_column_int(row, 9),
      .status_message = spans_text(row, 10),
      .attributes = spans_text(row, 11)};

  return fn(data, &span);
}

spanprof_status sp_store_spans(sp_store *store,
                               const sp_store_span_filter *filter,
                               sp_store_span_fn fn, void *data) {
  sqlite3_stmt *each = NULL;
  sp_store_reader *reader;
  sp_buffer sql;
  int code = SQLITE_DONE;
  spanprof_status st =
      sp_store_reader_acquire_for(store, filter->cancel, &reader);

  if (st)
    return st;
  sp_buffer_init(&sql, store->mem);
  spans_sql(filter, &sql);
  st = sp_buffer_status(&sql);
  if (!st)
    st = sp_database_prepare(reader->db, &each, sql.data);
  if (!st) {
    sqlite3_bind_int64(each, 1, filter->duration_min_ns);
    sqlite3_bind_int64(each, 2, filter->from_ns);
    sqlite3_bind_int64(each, 3, filter->until_ns);
    sqlite3_bind_text(each, 4, filter->service, -1, SQLITE_STATIC);
    sqlite3_bind_text(each, 5, filter->name, -1, SQLITE_STATIC);
  }
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW)
    if (!spans_pass(each, fn, data))
      break;
  sqlite3_finalize(each);
  sp_buffer_dispose(&sql);
  sp_store_reader_release(store, reader);
  return st;
}
