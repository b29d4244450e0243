/* Spans and traces by their ids, without a profile type: from the stored traces
 * and, for ids that no stored trace has, from the samples. */
#include <string.h>

#include "api_traces.h"
#include "server/model/query_time.h"
#include "server/model/sum.h"

#define FIND_IDS_MAX 100

/* A result for one of the requested ids. */
typedef struct find_row {
  bool is_found;
  bool is_stored; /* in a stored trace */
  bool is_root;
  sp_trace_id trace_id;
  uint64_t span_id; /* 0: samples of a trace that is not stored */
  const char *name; /* NULL: samples without a span name */
  const char *service;
  int64_t start_ns; /* start of the span or, if it is not stored, of its first
                     * profile */
  int64_t until_ns;
} find_row;

/* The results of the requested spans, followed by those of the requested
 * traces. */
typedef struct find_rows {
  sp_api *api;
  find_row *rows;
  const uint64_t *spans;
  size_t span_count;
  const sp_trace_id *traces;
  size_t trace_count;
  spanprof_status st;
} find_rows;

static bool find_is_trace(const sp_trace_id *a, const sp_trace_id *b) {
  return a->hi == b->hi && a->lo == b->lo;
}

static const char *find_copy(find_rows *find, const char *text) {
  const char *copy =
      text ? sp_arena_text(&find->api->query.arena, text, strlen(text)) : NULL;

  if (text && !copy)
    find->st = find->api->query.arena.st;
  return copy;
}

static void find_set(find_rows *find, find_row *row,
                     const sp_store_span *span) {
  *row = (find_row){.is_found = true,
                    .is_stored = true,
                    .is_root = span->parent_id == 0,
                    .trace_id = span->trace_id,
                    .span_id = span->span_id,
                    .name = find_copy(find, span->name),
                    .service = find_copy(find, span->service),
                    .start_ns = span->start_ns,
                    .until_ns = sp_sum(span->start_ns, span->duration_ns)};
}

static bool find_span(void *data, const sp_store_span *span) {
  find_rows *find = data;
  size_t i;

  for (i = 0; i < find->span_count; i++)
    if (find->spans[i] == span->span_id)
      find_set(find, &find->rows[i], span);
  return !find->st;
}

/* The spans come in the order of their starts, the latest first, and a later
 * call replaces the row. So the row of a trace finally has its earliest root
 * or, without a stored root, its earliest span. */
static bool find_trace(void *data, const sp_store_span *span) {
  find_rows *find = data;
  size_t i;

  for (i = 0; i < find->trace_count; i++) {
    find_row *row = &find->rows[find->span_count + i];

    if (find_is_trace(&find->traces[i], &span->trace_id) &&
        (!row->is_root || span->parent_id == 0))
      find_set(find, row, span);
  }
  return !find->st;
}

/* Read the stored spans with the requested span ids or trace ids. The request's
 * time range applies only to profiles, because an id identifies a span or trace
 * at any time. */
static spanprof_status find_stored(find_rows *find, sp_store_span_fn fn,
                                   bool traces) {
  const sp_query *query = &find->api->query;
  const sp_store_span_filter filter = {
      .span_ids = traces ? NULL : find->spans,
      .span_count = traces ? 0 : find->span_count,
      .trace_ids = traces ? find->traces : NULL,
      .trace_count = traces ? find->trace_count : 0,
      .cancel = query->http->cancel};
  spanprof_status st = SPANPROF_OK;

  if (traces ? find->trace_count : find->span_count)
    st = sp_store_spans(query->serve->store, &filter, fn, find);
  return st ? st : find->st;
}

static void find_add(find_rows *find, find_row *row,
                     const sp_store_point *point) {
  const int64_t until_ns = sp_sum(point->time_ns, point->duration_ns);

  if (row->is_stored)
    return;
  if (!row->is_found)
    *row = (find_row){.is_found = true,
                      .trace_id = point->trace_id,
                      .start_ns = point->time_ns,
                      .until_ns = until_ns};
  if (!row->name)
    row->name = find_copy(find, sp_text_pairs_find(point->labels, "span_name"));
  if (!row->service)
    row->service =
        find_copy(find, sp_text_pairs_find(point->labels, "service_name"));
  row->start_ns =
      point->time_ns < row->start_ns ? point->time_ns : row->start_ns;
  row->until_ns = until_ns > row->until_ns ? until_ns : row->until_ns;
}

static bool find_sample_of_span(void *data, const sp_store_point *point) {
  find_rows *find = data;
  size_t i;

  for (i = 0; i < find->span_count; i++)
    if (point->span_id && find->spans[i] == point->span_id) {
      find_add(find, &find->rows[i], point);
      find->rows[i].span_id = point->span_id;
    }
  return !find->st;
}

static bool find_sample_of_trace(void *data, const sp_store_point *point) {
  find_rows *find = data;
  size_t i;

  for (i = 0; i < find->trace_count; i++)
    if (find_is_trace(&find->traces[i], &point->trace_id))
      find_add(find, &find->rows[find->span_count + i], point);
  return !find->st;
}

static bool find_misses(const find_rows *find, size_t from, size_t count) {
  size_t i;

  for (i = from; i < from + count; i++)
    if (!find->rows[i].is_found)
      return true;
  return false;
}

/* Look in the samples for the ids that are in no stored trace. */
static spanprof_status find_samples(find_rows *find, bool traces) {
  sp_query_plan *plan = &find->api->plan;
  spanprof_status st;

  if (!find_misses(find, traces ? find->span_count : 0,
                   traces ? find->trace_count : find->span_count))
    return SPANPROF_OK;
  /* An id may have samples of any type. */
  plan->selector.profile_type = NULL;
  plan->selector.span_count = traces ? 0 : find->span_count;
  plan->selector.trace_count = traces ? find->trace_count : 0;
  st = sp_store_points(find->api->query.serve->store,
                       sp_query_plan_selector(plan), SP_STORE_POINT_PER_SPAN,
                       traces ? find_sample_of_trace : find_sample_of_span,
                       find);
  return sp_query_plan_done(plan, st ? st : find->st);
}

static void find_put_text(sp_json *json, const char *name, const char *text) {
  sp_json_key(json, name);
  if (text)
    sp_json_text(json, text);
  else
    sp_json_null(json);
}

static void find_put(sp_api *api, const find_row *row) {
  sp_json *json = &api->json;

  sp_json_open(json, '{');
  sp_api_put_span_id(api, "spanId", row->span_id);
  sp_api_put_trace_id(api, "traceId", &row->trace_id);
  find_put_text(json, "name", row->name);
  find_put_text(json, "service", row->service);
  sp_json_member_int(json, "startNs", row->start_ns);
  sp_json_member_int(json, "durationNs", row->until_ns - row->start_ns);
  sp_json_key(json, "stored");
  sp_json_bool(json, row->is_stored);
  sp_json_close(json, '}');
}

static void find_put_list(const find_rows *find, const char *name, size_t from,
                          size_t count) {
  size_t i;

  sp_json_member_open(&find->api->json, name, '[');
  for (i = from; i < from + count; i++)
    if (find->rows[i].is_found)
      find_put(find->api, &find->rows[i]);
  sp_json_close(&find->api->json, ']');
}

spanprof_status sp_api_find(sp_api *api) {
  find_rows find = {.api = api};
  const sp_selector *selector = &api->plan.selector;
  spanprof_status st = sp_api_plan(api);

  if (st)
    return st;
  if (selector->span_count + selector->trace_count > FIND_IDS_MAX)
    return sp_query_invalid(&api->query, "the request has more than %d ids",
                            FIND_IDS_MAX);
  find.spans = selector->span_ids;
  find.span_count = selector->span_count;
  find.traces = selector->trace_ids;
  find.trace_count = selector->trace_count;
  find.rows =
      sp_arena_new(&api->query.arena, find.span_count + find.trace_count + 1,
                   sizeof *find.rows);
  if (!find.rows)
    return api->query.arena.st;
  st = find_stored(&find, find_span, false);
  if (!st)
    st = find_stored(&find, find_trace, true);
  if (!st)
    st = find_samples(&find, false);
  if (!st)
    st = find_samples(&find, true);
  sp_json_open(&api->json, '{');
  find_put_list(&find, "spans", 0, find.span_count);
  find_put_list(&find, "traces", find.span_count, find.trace_count);
  sp_json_close(&api->json, '}');
  return st;
}
