/* Spans by name or one by one: what each cost, and where traces are there, how
 * long it took. */
#include <stdlib.h>
#include <string.h>

#include "api_call.h"
#include "name_tree.h"
#include "query_time.h"
#include "span_durations.h"
#include "text_set.h"

#define SPANS_TRACED_MAX 200000 /* spans of traces that are looked at */

typedef struct spans_row {
  const char *name;    /* NULL: samples have no name */
  const char *service; /* NULL: several, or none */
  uint64_t span_id;    /* by id */
  sp_trace_id trace_id;
  int64_t total;
  uint64_t samples;
  uint64_t spans; /* distinct ids */
  uint64_t traced;
  int64_t duration_ns; /* of those traced, together */
  int64_t longest_ns;
  int64_t p50_ns, p99_ns; /* which so many of them did not exceed */
} spans_row;

/* A span's part of a row: to count each once, and to know its trace. */
typedef struct spans_member {
  uint64_t span_id;
  uint32_t row;
} spans_member;

typedef struct spans_table {
  sp_api *api;
  bool by_id;
  sp_text_set texts;
  spans_row *rows;
  size_t count, room;
  sp_index index;
  spans_member *members;
  size_t member_count, member_room;
  sp_index member_index;
  sp_span_durations durations;
  int64_t rest; /* of samples in no span */
  spanprof_status st;
} spans_table;

static bool spans_is_row(const spans_table *table, const spans_row *row,
                         const char *name, uint64_t span_id) {
  return table->by_id ? row->span_id == span_id : row->name == name;
}

/* A text that lives as long as the call; equal ones are one. NULL stays. */
static spanprof_status spans_text(spans_table *table, const char **text) {
  uint32_t number;
  spanprof_status st;

  if (!*text)
    return SPANPROF_OK;
  st = sp_text_set_add(&table->texts, *text, &number);
  if (!st)
    *text = table->texts.texts[number];
  return st;
}

static spanprof_status spans_find(spans_table *table, uint64_t span_id,
                                  const char *name, uint32_t *out) {
  const sp_mem *mem = table->api->query.mem;
  const uint64_t hash =
      sp_hash_mix(SP_HASH_SEED, table->by_id ? span_id : (uintptr_t)name);
  uint32_t at, i = sp_index_first(&table->index, hash, &at);
  spanprof_status st;

  while (i != SP_INDEX_NONE &&
         !spans_is_row(table, &table->rows[i], name, span_id))
    i = sp_index_next(&table->index, hash, &at);
  *out = i;
  if (i != SP_INDEX_NONE)
    return SPANPROF_OK;
  if (table->count >= SP_QUERY_MEMORY_MAX / sizeof *table->rows)
    return SPANPROF_ERR_LIMIT;
  st = sp_index_reserve(&table->index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&table->rows, &table->room,
                        table->count + 1, sizeof *table->rows);
  if (st)
    return st;
  *out = (uint32_t)table->count++;
  table->rows[*out] = (spans_row){.name = name};
  if (table->by_id)
    table->rows[*out].span_id = span_id;
  sp_index_add(&table->index, hash, *out);
  return SPANPROF_OK;
}

static bool spans_member_known(const spans_table *table, uint64_t span_id,
                               uint32_t row) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, span_id);
  uint32_t at, i = sp_index_first(&table->member_index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&table->member_index, hash, &at))
    if (table->members[i].span_id == span_id && table->members[i].row == row)
      return true;
  return false;
}

static spanprof_status spans_count(spans_table *table, uint64_t span_id,
                                   uint32_t row) {
  const sp_mem *mem = table->api->query.mem;
  spanprof_status st;

  if (span_id == 0 || spans_member_known(table, span_id, row))
    return SPANPROF_OK;
  if (table->member_count >= SP_QUERY_MEMORY_MAX / sizeof *table->members)
    return SPANPROF_ERR_LIMIT;
  st = sp_index_reserve(&table->member_index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&table->members, &table->member_room,
                        table->member_count + 1, sizeof *table->members);
  if (st)
    return st;
  sp_index_add(&table->member_index, sp_hash_mix(SP_HASH_SEED, span_id),
               (uint32_t)table->member_count);
  table->members[table->member_count++] =
      (spans_member){.span_id = span_id, .row = row};
  table->rows[row].spans++;
  return SPANPROF_OK;
}

static bool spans_gather(void *data, const sp_store_point *point) {
  spans_table *table = data;
  const char *name = sp_text_pairs_find(point->labels, "span_name");
  const char *service = sp_text_pairs_find(point->labels, "service_name");
  spans_row *row;
  uint32_t number;

  if (point->span_id == 0 && (table->by_id || !name)) {
    table->rest = sp_sum(table->rest, point->value);
    return true;
  }
  table->st = spans_text(table, &name);
  if (!table->st)
    table->st = spans_text(table, &service);
  if (!table->st)
    table->st = spans_find(table, point->span_id, name, &number);
  if (table->st)
    return false;
  row = &table->rows[number];
  if (row->samples == 0)
    row->service = service;
  else if (row->service != service)
    row->service = NULL;
  if (table->by_id && !row->name)
    row->name = name;
  if (point->trace_id.hi || point->trace_id.lo)
    row->trace_id = point->trace_id;
  row->total = sp_sum(row->total, point->value);
  row->samples += point->sample_count;
  table->st = spans_count(table, point->span_id, number);
  return !table->st;
}

static spanprof_status spans_add_duration(spans_table *table, uint32_t number,
                                          const sp_store_span *span) {
  spans_row *row = &table->rows[number];

  row->traced++;
  row->duration_ns = sp_sum(row->duration_ns, span->duration_ns);
  if (span->duration_ns > row->longest_ns)
    row->longest_ns = span->duration_ns;
  if (table->by_id)
    row->trace_id = span->trace_id;
  return sp_span_durations_add(&table->durations, table->api->query.mem, number,
                               span->duration_ns);
}

/* A span that was asked for by its id, and has no samples. */
static spanprof_status spans_without_samples(spans_table *table,
                                             const sp_store_span *span) {
  const char *name = span->name, *service = span->service;
  uint32_t number;
  spanprof_status st = spans_text(table, &name);

  if (!st)
    st = spans_text(table, &service);
  if (!st)
    st = spans_find(table, span->span_id, name, &number);
  if (!st)
    st = spans_count(table, span->span_id, number);
  if (st)
    return st;
  table->rows[number].name = name;
  table->rows[number].service = service;
  return spans_add_duration(table, number, span);
}

/* A span of a trace: how long it took, for the rows it is in. It is in two
 * where its samples have two names. */
static bool spans_traced(void *data, const sp_store_span *span) {
  spans_table *table = data;
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, span->span_id);
  uint32_t at, i = sp_index_first(&table->member_index, hash, &at);
  bool found = false;

  for (; i != SP_INDEX_NONE && !table->st;
       i = sp_index_next(&table->member_index, hash, &at))
    if (table->members[i].span_id == span->span_id) {
      found = true;
      table->st = spans_add_duration(table, table->members[i].row, span);
    }
  if (!found && table->by_id && table->api->plan.selector.span_count)
    table->st = spans_without_samples(table, span);
  return !table->st;
}

static spanprof_status spans_trace(spans_table *table) {
  const sp_selector *selector = &table->api->plan.selector;
  const sp_store_span_filter filter = {
      .from_ns = sp_query_ns(selector->from_ms),
      .until_ns = sp_query_ns(selector->until_ms),
      .span_ids = selector->span_ids,
      .span_count = selector->span_count,
      .limit = SPANS_TRACED_MAX};
  spanprof_status st = sp_store_spans(table->api->query.serve->store, &filter,
                                      spans_traced, table);
  uint32_t i;

  st = st ? st : table->st;
  if (st)
    return st;
  sp_span_durations_sort(&table->durations);
  for (i = 0; i < table->count; i++) {
    table->rows[i].p50_ns =
        sp_span_durations_quantile(&table->durations, i, 50);
    table->rows[i].p99_ns =
        sp_span_durations_quantile(&table->durations, i, 99);
  }
  return SPANPROF_OK;
}

static int spans_name_order(const spans_row *left, const spans_row *right) {
  const int order =
      strcmp(left->name ? left->name : "", right->name ? right->name : "");

  return order ? order
               : (left->span_id > right->span_id) -
                     (left->span_id < right->span_id);
}

#define SPANS_ORDER(function, member)                 \
  static int function(const void *a, const void *b) { \
    const spans_row *left = a, *right = b;            \
                                                      \
    if (left->member != right->member)                \
      return left->member > right->member ? -1 : 1;   \
    return spans_name_order(left, right);             \
  }

SPANS_ORDER(spans_by_total, total)
SPANS_ORDER(spans_by_samples, samples)
SPANS_ORDER(spans_by_spans, spans)
SPANS_ORDER(spans_by_duration, duration_ns)

static int spans_by_name(const void *a, const void *b) {
  return spans_name_order(a, b);
}

static spanprof_status spans_sort(spans_table *table) {
  static const struct {
    const char *name;
    int (*order)(const void *, const void *);
  } orders[] = {{"total", spans_by_total},
                {"samples", spans_by_samples},
                {"spans", spans_by_spans},
                {"duration", spans_by_duration},
                {"name", spans_by_name}};
  const char *sort = sp_api_parameter(table->api, "sort");
  size_t i;

  for (i = 0; i < SP_COUNT_OF(orders); i++) {
    if (sort && strcmp(sort, orders[i].name) != 0)
      continue;
    if (table->count)
      qsort(table->rows, table->count, sizeof *table->rows, orders[i].order);
    return SPANPROF_OK;
  }
  return sp_query_invalid(&table->api->query,
                          "sort is one of total, samples, spans, duration, "
                          "name: \"%s\"",
                          sort);
}

static void spans_put_text(sp_json *json, const char *name, const char *text) {
  sp_json_key(json, name);
  if (text)
    sp_json_text(json, text);
  else
    sp_json_null(json);
}

static void spans_put(const spans_table *table, const spans_row *row) {
  sp_json *json = &table->api->json;

  sp_json_open(json, '{');
  spans_put_text(json, "name", row->name);
  spans_put_text(json, "service", row->service);
  if (table->by_id) {
    sp_api_put_span_id(table->api, "spanId", row->span_id);
    sp_api_put_trace_id(table->api, "traceId", &row->trace_id);
  }
  sp_json_member_int(json, "total", row->total);
  sp_json_member_int(json, "samples", (int64_t)row->samples);
  sp_json_member_int(json, "spans", (int64_t)row->spans);
  sp_json_member_int(json, "traced", (int64_t)row->traced);
  if (row->traced) {
    sp_json_member_int(json, "durationNs", row->duration_ns);
    sp_json_member_int(json, "longestNs", row->longest_ns);
    sp_json_member_int(json, "p50Ns", row->p50_ns);
    sp_json_member_int(json, "p99Ns", row->p99_ns);
  }
  sp_json_close(json, '}');
}

static void spans_dispose(spans_table *table) {
  const sp_mem *mem = table->api->query.mem;

  sp_text_set_dispose(&table->texts);
  sp_span_durations_dispose(&table->durations, mem);
  sp_index_dispose(&table->index, mem);
  sp_index_dispose(&table->member_index, mem);
  sp_mem_free(mem, table->rows);
  sp_mem_free(mem, table->members);
}

spanprof_status sp_api_spans(sp_api *api) {
  const char *by = sp_api_parameter(api, "by");
  spans_table table = {.api = api, .by_id = by && strcmp(by, "id") == 0};
  size_t i, limit = 0, after = 0;
  spanprof_status st = sp_api_plan(api);

  if (!st && by && !table.by_id && strcmp(by, "name") != 0)
    st = sp_query_invalid(&api->query, "by is name or id: \"%s\"", by);
  if (!st)
    st = sp_api_page(api, &limit, &after);
  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  sp_text_set_init(&table.texts, &api->query.arena);
  if (!st)
    st = sp_store_points(api->query.serve->store,
                         sp_query_plan_selector(&api->plan),
                         SP_STORE_POINT_PER_SPAN, spans_gather, &table);
  st = sp_query_plan_done(&api->plan, st ? st : table.st);
  if (!st)
    st = spans_trace(&table);
  if (!st)
    st = spans_sort(&table);
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "spans", '[');
  for (i = after; !st && i < table.count && i - after < limit; i++)
    spans_put(&table, &table.rows[i]);
  sp_json_close(&api->json, ']');
  sp_json_member_int(&api->json, "count", (int64_t)table.count);
  sp_json_member_int(&api->json, "rest", table.rest);
  if (!st)
    sp_api_put_after(api, i, table.count);
  sp_json_close(&api->json, '}');
  spans_dispose(&table);
  return st;
}
