#include <stdlib.h>
#include <string.h>

#include "rootless.h"
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

static bool spans_same_trace(const sp_store_span *a, const sp_store_span *b) {
  return a->trace_id.hi == b->trace_id.hi && a->trace_id.lo == b->trace_id.lo;
}

/* Order by trace, and within a trace by time. */
static int spans_order(const void *left, const void *right) {
  const sp_store_span *a = *(const sp_store_span *const *)left;
  const sp_store_span *b = *(const sp_store_span *const *)right;

  if (a->trace_id.hi != b->trace_id.hi)
    return a->trace_id.hi < b->trace_id.hi ? -1 : 1;
  if (a->trace_id.lo != b->trace_id.lo)
    return a->trace_id.lo < b->trace_id.lo ? -1 : 1;
  if (a->start_ns != b->start_ns)
    return a->start_ns < b->start_ns ? -1 : 1;
  return ((int64_t)a->span_id > (int64_t)b->span_id) -
         ((int64_t)a->span_id < (int64_t)b->span_id);
}

/* Find the traces of the new spans that have no root. */
static spanprof_status spans_rootless(sp_writer *writer,
                                      const spans_call *call) {
  const sp_store_span **sorted =
      sp_mem_new(writer->mem, call->count * sizeof *sorted);
  sp_rootless rootless = {.db = writer->db};
  spanprof_status st = sorted ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  size_t i;

  for (i = 0; !st && i < call->count; i++)
    sorted[i] = &call->spans[i];
  if (!st)
    qsort(sorted, call->count, sizeof *sorted, spans_order);
  for (i = 0; !st && i < call->count; i++)
    if (i == 0 || !spans_same_trace(sorted[i], sorted[i - 1]))
      st = sp_rootless_add(&rootless, sorted[i]);
  sp_rootless_dispose(&rootless);
  sp_mem_free(writer->mem, sorted);
  return st;
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
  return st ? st : spans_rootless(writer, call);
}

spanprof_status sp_store_put_spans(sp_store *store, const sp_store_span *spans,
                                   size_t count) {
  spans_call call = {spans, count};

  return count ? sp_store_write(store, spans_write, &call) : SPANPROF_OK;
}

/* A statement that reads spans, and the connection that runs it. */
typedef struct spans_query {
  sp_store *store;
  sp_store_reader *reader;
  sqlite3_stmt *each;
  sp_buffer sql;
} spans_query;

/* Number of the first parameter that stands for a key or value of an
 * attribute. */
#define SPANS_ATTRIBUTE 6

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

/* Whether JSON contains a text as it is, without escapes. */
static bool spans_is_plain(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
      return false;
  return true;
}

/* Write a condition that is faster than reading JSON, and that excludes most
 * spans without the attribute. There is no such condition for a number, because
 * it has several forms in JSON. */
static void spans_likely(const sp_store_attribute *attribute, size_t parameter,
                         sp_buffer *sql) {
  static const char part[] = " AND instr(a.attributes,?%zu)";
  const char *value = attribute->value;

  if (spans_is_plain(attribute->key))
    sp_buffer_format(sql, part, parameter);
  if (value && spans_is_plain(value) && value[strspn(value, "0123456789.+-eE")])
    sp_buffer_format(sql, part, parameter + 1);
}

/* Write the condition that the span `a` has an attribute in one of its two
 * JSON objects: its own, or its resource's. */
static void spans_attribute(const sp_store_attribute *attribute,
                            size_t parameter, sp_buffer *sql) {
  static const char *const objects[] = {"NULLIF(a.attributes,'')",
                                        "NULLIF(a.attributes,''),'$.resource'"};
  size_t i;

  spans_likely(attribute, parameter, sql);
  for (i = 0; i < SP_COUNT_OF(objects); i++) {
    sp_buffer_format(sql, "%sEXISTS(SELECT 1 FROM json_each(%s) WHERE key=?%zu",
                     i ? " OR " : " AND (", objects[i], parameter);
    if (attribute->value)
      sp_buffer_format(sql,
                       " AND CASE type WHEN 'true' THEN 'true' WHEN 'false' "
                       "THEN 'false' ELSE CAST(value AS TEXT) END=?%zu",
                       parameter + 1);
    sp_buffer_text(sql, ")");
  }
  sp_buffer_text(sql, ")");
}

/* Write the conditions that spans of the same trace must satisfy. */
static void spans_of_trace(const sp_store_span_filter *filter, sp_buffer *sql) {
  static const char any[] =
      " AND EXISTS(SELECT 1 FROM span a WHERE a.trace_hi=span.trace_hi AND "
      "a.trace_lo=span.trace_lo";
  size_t i;

  if (filter->with_errors)
    sp_buffer_format(sql, "%s AND a.status=2)", any);
  for (i = 0; i < filter->attribute_count; i++) {
    sp_buffer_text(sql, i ? "" : any);
    spans_attribute(&filter->attributes[i], SPANS_ATTRIBUTE + 2 * i, sql);
  }
  sp_buffer_text(sql, i ? ")" : "");
}

/* Which spans of the traces a query reads. */
typedef enum spans_which {
  SPANS_ALL,
  SPANS_ROOTS,
  SPANS_STAND_INS, /* the earliest spans of traces without a root (rootless.h)
                    */
} spans_which;

/* Write the tables of a query for the stand-ins. CROSS JOIN makes SQLite read
 * `rootless` first, and search `span` for each row. */
static void spans_stand_ins(const sp_store_span_filter *filter,
                            sp_buffer *sql) {
  static const char same[] = "r_hi=trace_hi AND r_lo=trace_lo AND r_id=span_id";

  if (filter->trace_count) {
    spans_traces(filter, sql);
    sp_buffer_format(sql, " JOIN rootless ON %s", same);
  } else {
    sp_buffer_format(sql, "rootless CROSS JOIN span ON %s", same);
  }
}

/* Write the tables and conditions of the query. Lists of ids are written into
 * it as numbers. */
static void spans_from(const sp_store_span_filter *filter, spans_which which,
                       sp_buffer *sql) {
  size_t i;

  sp_buffer_text(sql, " FROM ");
  if (which == SPANS_STAND_INS)
    spans_stand_ins(filter, sql);
  else
    spans_traces(filter, sql);
  sp_buffer_text(sql, " JOIN text s ON s.id=service JOIN text n ON n.id=name "
                      "WHERE duration_ns>=?1");
  if (filter->from_ns)
    sp_buffer_text(sql, which == SPANS_STAND_INS
                            ? " AND start_ns>=?2 AND r_start>=?2"
                            : " AND start_ns>=?2");
  if (filter->until_ns)
    sp_buffer_text(sql, which == SPANS_STAND_INS
                            ? " AND start_ns<=?3 AND r_start<=?3"
                            : " AND start_ns<=?3");
  if (filter->service)
    sp_buffer_text(sql, " AND service=(SELECT id FROM text WHERE text=?4)");
  if (filter->name)
    sp_buffer_text(sql, " AND name=(SELECT id FROM text WHERE text=?5)");
  if (which == SPANS_ROOTS)
    sp_buffer_text(sql, " AND parent_id=0");
  for (i = 0; i < filter->span_count; i++)
    sp_buffer_format(sql, "%s%lld", i ? "," : " AND span_id IN (",
                     (long long)filter->span_ids[i]);
  sp_buffer_text(sql, i ? ")" : "");
  spans_of_trace(filter, sql);
}

static void spans_bind(sqlite3_stmt *each, const sp_store_span_filter *filter) {
  size_t i;

  sqlite3_bind_int64(each, 1, filter->duration_min_ns);
  sqlite3_bind_int64(each, 2, filter->from_ns);
  sqlite3_bind_int64(each, 3, filter->until_ns);
  sqlite3_bind_text(each, 4, filter->service, -1, SQLITE_STATIC);
  sqlite3_bind_text(each, 5, filter->name, -1, SQLITE_STATIC);
  for (i = 0; i < filter->attribute_count; i++) {
    sqlite3_bind_text(each, SPANS_ATTRIBUTE + 2 * (int)i,
                      filter->attributes[i].key, -1, SQLITE_STATIC);
    sqlite3_bind_text(each, SPANS_ATTRIBUTE + 2 * (int)i + 1,
                      filter->attributes[i].value, -1, SQLITE_STATIC);
  }
}

/* The parts of a query: "`begin` `columns` FROM … WHERE … `group` `end`". */
typedef struct spans_parts {
  const char *begin, *columns, *group, *end;
} spans_parts;

/* Write the query of a filter. Roots and stand-ins are read by two queries,
 * which UNION ALL connects, so that each uses its own index. */
static void spans_sql(const sp_store_span_filter *filter,
                      const spans_parts *parts, sp_buffer *sql) {
  sp_buffer_format(sql, "%s%s", parts->begin, parts->columns);
  spans_from(filter, filter->roots_only ? SPANS_ROOTS : SPANS_ALL, sql);
  sp_buffer_text(sql, parts->group);
  if (filter->roots_only) {
    sp_buffer_format(sql, " UNION ALL %s", parts->columns);
    spans_from(filter, SPANS_STAND_INS, sql);
    sp_buffer_text(sql, parts->group);
  }
  sp_buffer_text(sql, parts->end);
  if (filter->limit)
    sp_buffer_format(sql, " LIMIT %zu OFFSET %zu", filter->limit,
                     filter->offset);
}

/* Prepare the query of a filter. The caller closes it with spans_close(), also
 * after an error. */
static spanprof_status spans_open(spans_query *query, sp_store *store,
                                  const sp_store_span_filter *filter,
                                  const spans_parts *parts) {
  spanprof_status st;

  *query = (spans_query){.store = store};
  sp_buffer_init(&query->sql, store->mem);
  st = sp_store_reader_acquire_for(store, filter->cancel, &query->reader);
  if (st) {
    query->reader = NULL;
    return st;
  }
  spans_sql(filter, parts, &query->sql);
  st = sp_buffer_status(&query->sql);
  if (!st)
    st = sp_database_prepare(query->reader->db, &query->each, query->sql.data);
  if (!st)
    spans_bind(query->each, filter);
  return st;
}

static void spans_close(spans_query *query) {
  sqlite3_finalize(query->each);
  sp_buffer_dispose(&query->sql);
  if (query->reader)
    sp_store_reader_release(query->store, query->reader);
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
  const spans_parts parts = {
      .begin = "",
      .columns = "SELECT trace_hi, trace_lo, span_id, parent_id, s.text, "
                 "n.text, start_ns, duration_ns, kind, status, message, "
                 "attributes",
      .group = "",
      .end = filter->order == SP_STORE_SPANS_SLOWEST
                 ? " ORDER BY duration_ns DESC, start_ns DESC"
                 : " ORDER BY start_ns DESC"};
  int code = SQLITE_DONE;
  spans_query query;
  spanprof_status st = spans_open(&query, store, filter, &parts);

  while (!st && !(st = sp_database_step(query.each, &code)) &&
         code == SQLITE_ROW)
    if (!spans_pass(query.each, fn, data))
      break;
  spans_close(&query);
  return st;
}

spanprof_status sp_store_span_count(sp_store *store,
                                    const sp_store_span_filter *filter,
                                    int64_t *out) {
  static const spans_parts parts = {.begin = "SELECT sum(spans) FROM (",
                                    .columns = "SELECT count(*) spans",
                                    .group = "",
                                    .end = ")"};
  sp_store_span_filter all = *filter;
  int code = SQLITE_DONE;
  spans_query query;
  spanprof_status st;

  *out = 0;
  all.limit = 0;
  st = spans_open(&query, store, &all, &parts);
  if (!st)
    st = sp_database_step(query.each, &code);
  if (!st && code == SQLITE_ROW)
    *out = sqlite3_column_int64(query.each, 0);
  spans_close(&query);
  return st;
}

spanprof_status sp_store_span_names(sp_store *store,
                                    const sp_store_span_filter *filter,
                                    sp_store_span_name_fn fn, void *data) {
  static const spans_parts parts = {
      .begin = "SELECT service_text, name_text, sum(spans) FROM (",
      .columns = "SELECT s.text service_text, n.text name_text, count(*) spans",
      .group = " GROUP BY service, name",
      .end = ") GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"};
  int code = SQLITE_DONE;
  spans_query query;
  spanprof_status st = spans_open(&query, store, filter, &parts);

  while (!st && !(st = sp_database_step(query.each, &code)) &&
         code == SQLITE_ROW) {
    const sp_store_span_name name = {.service = spans_text(query.each, 0),
                                     .name = spans_text(query.each, 1),
                                     .spans =
                                         sqlite3_column_int64(query.each, 2)};

    if (!fn(data, &name))
      break;
  }
  spans_close(&query);
  return st;
}
