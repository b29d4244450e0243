/* Spans by name or by id: the cost of each and, for spans in stored traces, the
 * duration. */
#include <stdlib.h>
#include <string.h>

#include "api_call.h"
#include "server/model/query_time.h"
#include "server/model/sum.h"
#include "server/query/spans/span_members.h"
#include "server/query/spans/span_rows.h"

/* Largest number of spans that are read from traces. */
#define SPANS_TRACED_MAX 200000

typedef struct spans_traced {
  uint64_t span_id;
  int64_t duration_ns;
} spans_traced;

typedef struct spans_table {
  sp_api *api;
  sp_span_rows rows;
  sp_span_members members; /* the spans of each row, in a table by name */
  /* The labels, name and service of the previous point: most points have the
   * same. */
  const sp_text_pairs *labels;
  uint32_t name, service;
  spans_traced *traced; /* spans of traces, in a table by name */
  size_t traced_count, traced_capacity, traced_at;
  int64_t outside; /* sum of the samples outside spans */
  spanprof_status st;
} spans_table;

static spanprof_status spans_labels(spans_table *table,
                                    const sp_text_pairs *labels) {
  spanprof_status st;

  if (labels == table->labels)
    return SPANPROF_OK;
  st = sp_span_rows_text(&table->rows, sp_text_pairs_find(labels, "span_name"),
                         &table->name);
  if (!st)
    st = sp_span_rows_text(&table->rows,
                           sp_text_pairs_find(labels, "service_name"),
                           &table->service);
  table->labels = labels;
  return st;
}

static spanprof_status spans_add(spans_table *table,
                                 const sp_store_point *point) {
  sp_span_rows *rows = &table->rows;
  sp_span_row *row;
  uint32_t number;
  spanprof_status st =
      sp_span_rows_get(rows, point->span_id, table->name, &number);

  if (st)
    return st;
  row = sp_span_rows_at(rows, number);
  if (row->samples == 0)
    row->service = table->service;
  else if (row->service != table->service)
    row->service = 0;
  row->total = sp_sum(row->total, point->value);
  row->samples += point->sample_count;
  if (!rows->by_id)
    return point->span_id ? sp_span_members_add(&table->members, rows->mem,
                                                point->span_id, number)
                          : SPANPROF_OK;
  if (!row->name)
    row->name = table->name;
  return point->trace_id.hi || point->trace_id.lo
             ? sp_span_rows_set_trace(rows, number, point->trace_id)
             : SPANPROF_OK;
}

static bool spans_gather(void *data, const sp_store_point *point) {
  spans_table *table = data;

  table->st = spans_labels(table, point->labels);
  if (!table->st && point->span_id == 0 && (table->rows.by_id || !table->name))
    table->outside = sp_sum(table->outside, point->value);
  else if (!table->st)
    table->st = spans_add(table, point);
  return !table->st;
}

/* Add a row for a span that was requested by its id and has no samples. */
static spanprof_status spans_without_samples(spans_table *table,
                                             const sp_store_span *span,
                                             uint32_t *number) {
  sp_span_rows *rows = &table->rows;
  uint32_t name, service;
  spanprof_status st = sp_span_rows_text(rows, span->name, &name);

  if (!st)
    st = sp_span_rows_text(rows, span->service, &service);
  if (!st)
    st = sp_span_rows_get(rows, span->span_id, name, number);
  if (!st)
    sp_span_rows_at(rows, *number)->service = service;
  return st;
}

static spanprof_status spans_trace_of_id(spans_table *table,
                                         const sp_store_span *span) {
  sp_span_rows *rows = &table->rows;
  uint32_t number = sp_span_rows_find(rows, span->span_id, 0);
  spanprof_status st = SPANPROF_OK;

  if (number == SP_INDEX_NONE) {
    if (!table->api->plan.selector.span_count)
      return st;
    st = spans_without_samples(table, span, &number);
  }
  if (!st)
    st = sp_span_rows_set_trace(rows, number, span->trace_id);
  return st ? st : sp_span_rows_add_time(rows, number, span->duration_ns);
}

/* Add the duration of a span from a stored trace. */
static bool spans_trace(void *data, const sp_store_span *span) {
  spans_table *table = data;

  if (table->rows.by_id) {
    table->st = spans_trace_of_id(table, span);
    return !table->st;
  }
  table->st = sp_mem_reserve(table->rows.mem, (void **)&table->traced,
                             &table->traced_capacity, table->traced_count + 1,
                             sizeof *table->traced);
  if (!table->st)
    table->traced[table->traced_count++] =
        (spans_traced){span->span_id, span->duration_ns};
  return !table->st;
}

static int spans_traced_order(const void *a, const void *b) {
  const spans_traced *left = a, *right = b;

  return (left->span_id > right->span_id) - (left->span_id < right->span_id);
}

/* Count a span in its row, and add its durations in stored traces.
 * `table->members` and `table->traced` are both ordered by span id. A span
 * whose samples have two names counts in two rows. */
static spanprof_status spans_count(void *data, const sp_span_member *member) {
  spans_table *table = data;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_span_rows_at(&table->rows, member->row)->spans++;
  while (table->traced_at < table->traced_count &&
         table->traced[table->traced_at].span_id < member->span_id)
    table->traced_at++;
  for (i = table->traced_at; !st && i < table->traced_count &&
                             table->traced[i].span_id == member->span_id;
       i++)
    st = sp_span_rows_add_time(&table->rows, member->row,
                               table->traced[i].duration_ns);
  return st;
}

static spanprof_status spans_read_traces(spans_table *table) {
  const sp_selector *selector = &table->api->plan.selector;
  const sp_store_span_filter filter = {
      .from_ns = sp_query_ns(selector->from_ms),
      .until_ns = sp_query_ns(selector->until_ms),
      .span_ids = selector->span_ids,
      .span_count = selector->span_count,
      .limit = SPANS_TRACED_MAX,
      .cancel = selector->cancel};
  spanprof_status st = SPANPROF_OK;

  /* Unless ids are requested, traces add no rows, only durations to the rows of
   * samples. So without rows, no traces are read. */
  if (table->rows.count || (table->rows.by_id && selector->span_count))
    st = sp_store_spans(table->api->query.serve->store, &filter, spans_trace,
                        table);
  st = st ? st : table->st;
  if (!st && table->traced_count)
    qsort(table->traced, table->traced_count, sizeof *table->traced,
          spans_traced_order);
  if (!st)
    st = sp_span_members_each(&table->members, table->rows.mem, spans_count,
                              table);
  if (!st)
    sp_span_rows_quantiles(&table->rows);
  return st;
}

static void spans_put_text(sp_json *json, const char *name, const char *text) {
  sp_json_key(json, name);
  if (text)
    sp_json_text(json, text);
  else
    sp_json_null(json);
}

static void spans_put(const spans_table *table, const sp_span_row *row) {
  static const sp_trace_id none = {0};
  const sp_span_rows *rows = &table->rows;
  const sp_span_times times = sp_span_rows_times(rows, row);
  sp_json *json = &table->api->json;

  sp_json_open(json, '{');
  spans_put_text(json, "name", sp_span_rows_text_of(rows, row->name));
  spans_put_text(json, "service", sp_span_rows_text_of(rows, row->service));
  if (rows->by_id) {
    sp_api_put_span_id(table->api, "spanId", row->span_id);
    sp_api_put_trace_id(table->api, "traceId",
                        row->trace ? &rows->traces[row->trace - 1] : &none);
  }
  sp_json_member_int(json, "total", row->total);
  sp_json_member_int(json, "samples", (int64_t)row->samples);
  sp_json_member_int(json, "spans", rows->by_id ? 1 : (int64_t)row->spans);
  sp_json_member_int(json, "traced", (int64_t)times.traced);
  if (times.traced) {
    sp_json_member_int(json, "durationNs", times.duration_ns);
    sp_json_member_int(json, "longestNs", times.longest_ns);
    sp_json_member_int(json, "p50Ns", times.p50_ns);
    sp_json_member_int(json, "p99Ns", times.p99_ns);
  }
  sp_json_close(json, '}');
}

static void spans_dispose(spans_table *table) {
  sp_span_members_dispose(&table->members, table->rows.mem);
  sp_mem_free(table->rows.mem, table->traced);
  sp_span_rows_dispose(&table->rows);
}

/* Read the rows and sort them partially: the rows of all pages up to `page_end`
 * become the last rows, in reverse order. */
static spanprof_status spans_read(spans_table *table, size_t page_end) {
  sp_api *api = table->api;
  const char *sort = sp_api_parameter(api, "sort");
  const sp_span_row_order order = sp_span_rows_order(sort ? sort : "total");
  spanprof_status st;

  if (!order)
    return sp_query_invalid(
        &api->query,
        "sort must be one of total, samples, spans, duration, name: \"%s\"",
        sort);
  st = sp_api_plan_trace_spans(&api->plan);
  if (!st)
    st = sp_store_points(api->query.serve->store,
                         sp_query_plan_selector(&api->plan),
                         SP_STORE_POINT_PER_SPAN, spans_gather, table);
  st = sp_query_plan_done(&api->plan, st ? st : table->st);
  if (!st)
    st = spans_read_traces(table);
  if (!st)
    sp_span_rows_select(&table->rows, order, page_end);
  return st;
}

spanprof_status sp_api_spans(sp_api *api) {
  const char *by = sp_api_parameter(api, "by");
  spans_table table = {.api = api};
  const sp_span_rows *rows = &table.rows;
  size_t i, limit = 0, after = 0;
  spanprof_status st = sp_api_plan(api);

  sp_span_rows_init(&table.rows, &api->query.arena,
                    by && strcmp(by, "id") == 0);
  if (!st && by && !rows->by_id && strcmp(by, "name") != 0)
    st = sp_query_invalid(&api->query, "by must be name or id: \"%s\"", by);
  if (!st)
    st = sp_api_page(api, &limit, &after);
  if (!st)
    st = spans_read(&table, after + limit);
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "spans", '[');
  for (i = after; !st && i < rows->count && i - after < limit; i++)
    spans_put(&table, sp_span_rows_at(rows, rows->count - 1 - i));
  sp_json_close(&api->json, ']');
  sp_json_member_int(&api->json, "count", (int64_t)rows->count);
  sp_json_member_int(&api->json, "rest", table.outside);
  if (!st)
    sp_api_put_after(api, i, rows->count);
  sp_json_close(&api->json, '}');
  spans_dispose(&table);
  return st;
}
