/* The list of traces, and one trace with the CPU time of each span. */
#include "api_traces.h"

#include <stdlib.h>
#include <string.h>

#include "server/model/sum.h"

/* With `sort=dearest`, only this many traces, the latest ones, are compared. */
#define TRACES_CANDIDATES 500

#define TRACES_SPANS_MAX 100000 /* largest number of spans to read */
#define TRACES_ERROR     2      /* OpenTelemetry's status code of an error */

/* Longest time from the start of a profile to the start of a span in it. */
#define TRACES_PROFILE_MS 120000

typedef struct traces_span {
  sp_trace_id trace_id;
  uint64_t span_id;
  uint64_t parent_id;
  const char *name;
  const char *service;
  const char *message;
  const char *attributes;
  int64_t start_ns;
  int64_t duration_ns;
  int32_t kind;
  int32_t status;
  /* Number of samples of the span or, in the list of traces, of the whole
   * trace. */
  uint64_t samples;
  uint64_t errors; /* in the list of traces: number of spans of the trace with
                    * an error */
  int64_t own;     /* value of the span's samples */
  /* Value of the samples of the span and its descendants or, in the list of
   * traces, of the whole trace. */
  int64_t total;
} traces_span;

/* The value of a span in one profile of one thread. */
typedef struct traces_window {
  uint64_t span_id;
  const char *service; /* labels of the profile, or NULL */
  const char *thread_name;
  const char *thread_id;
  int64_t time_ns;
  int64_t duration_ns;
  int64_t value;
  uint64_t samples;
} traces_window;

typedef struct traces_spans {
  sp_api *api;
  traces_span *spans;
  size_t count, capacity;
  sp_index index; /* finds a span by its id */
  bool with_windows;
  traces_window *windows; /* only if with_windows */
  size_t window_count, window_capacity;
  spanprof_status st;
} traces_spans;

static const char *traces_copy(traces_spans *list, const char *text) {
  const char *copy = sp_arena_text(&list->api->query.arena, text ? text : "",
                                   text ? strlen(text) : 0);

  if (!copy)
    list->st = list->api->query.arena.st;
  return copy;
}

static bool traces_gather(void *data, const sp_store_span *span) {
  traces_spans *list = data;
  const sp_mem *mem = list->api->query.mem;
  traces_span copy = {.trace_id = span->trace_id,
                      .span_id = span->span_id,
                      .parent_id = span->parent_id,
                      .start_ns = span->start_ns,
                      .duration_ns = span->duration_ns,
                      .kind = span->kind,
                      .status = span->status};

  copy.name = traces_copy(list, span->name);
  copy.service = traces_copy(list, span->service);
  copy.message = traces_copy(list, span->status_message);
  copy.attributes = traces_copy(list, span->attributes);
  if (!list->st)
    list->st = sp_index_reserve(&list->index, mem);
  if (!list->st)
    list->st = sp_mem_reserve(mem, (void **)&list->spans, &list->capacity,
                              list->count + 1, sizeof *list->spans);
  if (list->st)
    return false;
  sp_index_add(&list->index, sp_hash_mix(SP_HASH_SEED, span->span_id),
               (uint32_t)list->count);
  list->spans[list->count++] = copy;
  return true;
}

static traces_span *traces_find(const traces_spans *list, uint64_t span_id) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, span_id);
  uint32_t at, i = sp_index_first(&list->index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&list->index, hash, &at))
    if (list->spans[i].span_id == span_id)
      return &list->spans[i];
  return NULL;
}

static spanprof_status traces_read(traces_spans *list,
                                   const sp_store_span_filter *filter) {
  const spanprof_status st = sp_store_spans(list->api->query.serve->store,
                                            filter, traces_gather, list);

  return st ? st : list->st;
}

static void traces_dispose(traces_spans *list) {
  const sp_mem *mem = list->api->query.mem;

  sp_index_dispose(&list->index, mem);
  sp_mem_free(mem, list->spans);
  sp_mem_free(mem, list->windows);
}

static const char *traces_label(traces_spans *list, const sp_store_point *point,
                                const char *name) {
  const char *value = sp_text_pairs_find(point->labels, name);

  return value ? traces_copy(list, value) : NULL;
}

static void traces_add_window(traces_spans *list, const sp_store_point *point) {
  traces_window *window;

  list->st = sp_mem_reserve(list->api->query.mem, (void **)&list->windows,
                            &list->window_capacity, list->window_count + 1,
                            sizeof *list->windows);
  if (list->st)
    return;
  window = &list->windows[list->window_count++];
  *window =
      (traces_window){.span_id = point->span_id,
                      .service = traces_label(list, point, "service_name"),
                      .thread_name = traces_label(list, point, "thread_name"),
                      .thread_id = traces_label(list, point, "thread_id"),
                      .time_ns = point->time_ns,
                      .duration_ns = point->duration_ns,
                      .value = point->value,
                      .samples = point->sample_count};
}

static bool traces_own(void *data, const sp_store_point *point) {
  traces_spans *list = data;
  traces_span *span = traces_find(list, point->span_id);

  if (span) {
    span->own = sp_sum(span->own, point->value);
    span->samples += point->sample_count;
    if (list->with_windows)
      traces_add_window(list, point);
  }
  return !list->st;
}

/* Add to each span the values of its samples. Reads the profiles of the time
 * that the spans cover. */
static spanprof_status traces_cost(traces_spans *list, const char *type) {
  sp_query *query = &list->api->query;
  uint64_t *ids = sp_arena_new(&query->arena, list->count + 1, sizeof *ids);
  int64_t from = INT64_MAX, until = INT64_MIN;
  sp_query_plan plan;
  spanprof_status st;
  size_t i;

  if (!ids)
    return query->arena.st;
  for (i = 0; i < list->count; i++) {
    const traces_span *span = &list->spans[i];
    const int64_t end = sp_sum(span->start_ns, span->duration_ns);

    ids[i] = span->span_id;
    from = span->start_ns < from ? span->start_ns : from;
    until = end > until ? end : until;
  }
  if (list->count == 0)
    return SPANPROF_OK;
  sp_query_plan_init(&plan, query);
  st = sp_query_plan_type(&plan, type);
  plan.selector.from_ms = from / 1000000 - TRACES_PROFILE_MS;
  plan.selector.until_ms = until / 1000000 + 1;
  plan.selector.span_ids = ids;
  plan.selector.span_count = list->count;
  if (!st)
    st = sp_store_points(query->serve->store, sp_query_plan_selector(&plan),
                         SP_STORE_POINT_PER_SPAN, traces_own, list);
  st = sp_query_plan_done(&plan, st ? st : list->st);
  sp_query_plan_dispose(&plan);
  return st;
}

static traces_span *traces_parent(const traces_spans *list,
                                  const traces_span *span) {
  return span->parent_id ? traces_find(list, span->parent_id) : NULL;
}

/* Add the children's totals to each span, children first. Spans that are their
 * own ancestors, which clients may send, are never reached and add nothing. */
static spanprof_status traces_add_up(traces_spans *list) {
  sp_arena *arena = &list->api->query.arena;
  uint32_t *children = sp_arena_new(arena, list->count, sizeof *children);
  uint32_t *ready = sp_arena_new(arena, list->count, sizeof *ready);
  size_t i, count = 0;
  traces_span *parent;

  if (!children || !ready)
    return arena->st;
  for (i = 0; i < list->count; i++) {
    list->spans[i].total = list->spans[i].own;
    parent = traces_parent(list, &list->spans[i]);
    if (parent)
      children[parent - list->spans]++;
  }
  for (i = 0; i < list->count; i++)
    if (children[i] == 0)
      ready[count++] = (uint32_t)i;
  for (i = 0; i < count; i++) {
    const traces_span *span = &list->spans[ready[i]];

    parent = traces_parent(list, span);
    if (!parent)
      continue;
    parent->total = sp_sum(parent->total, span->total);
    if (--children[parent - list->spans] == 0)
      ready[count++] = (uint32_t)(parent - list->spans);
  }
  return SPANPROF_OK;
}

static uint64_t traces_hash(const sp_trace_id *id) {
  return sp_hash_mix(sp_hash_mix(SP_HASH_SEED, id->hi), id->lo);
}

/* Add a span's value, and its error, to each root of its trace. A trace may
 * have several roots. */
static void traces_add_to_roots(traces_spans *roots, const sp_index *by_trace,
                                const traces_span *span) {
  const uint64_t hash = traces_hash(&span->trace_id);
  uint32_t at, i = sp_index_first(by_trace, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(by_trace, hash, &at)) {
    traces_span *root = &roots->spans[i];

    if (memcmp(&root->trace_id, &span->trace_id, sizeof span->trace_id) != 0)
      continue;
    root->total = sp_sum(root->total, span->own);
    root->samples += span->samples;
    root->errors += span->status == TRACES_ERROR;
  }
}

/* Add the values and errors of the whole trace to each of the first `count`
 * roots. */
static spanprof_status traces_cost_roots(traces_spans *roots, size_t count,
                                         const char *type) {
  sp_query *query = &roots->api->query;
  sp_trace_id *ids = sp_arena_new(&query->arena, count + 1, sizeof *ids);
  sp_store_span_filter filter = {.limit = TRACES_SPANS_MAX,
                                 .cancel = query->http->cancel};
  traces_spans all = {.api = roots->api};
  sp_index by_trace = {0};
  size_t i;
  spanprof_status st;

  if (!ids)
    return query->arena.st;
  if (count == 0)
    return SPANPROF_OK;
  st = sp_index_reserve_more(&by_trace, query->mem, (uint32_t)count);
  for (i = 0; !st && i < count; i++) {
    ids[i] = roots->spans[i].trace_id;
    sp_index_add(&by_trace, traces_hash(&ids[i]), (uint32_t)i);
  }
  filter.trace_ids = ids;
  filter.trace_count = count;
  if (!st)
    st = traces_read(&all, &filter);
  if (!st)
    st = traces_cost(&all, type);
  for (i = 0; !st && i < all.count; i++)
    if (all.spans[i].own || all.spans[i].status == TRACES_ERROR)
      traces_add_to_roots(roots, &by_trace, &all.spans[i]);
  sp_index_dispose(&by_trace, query->mem);
  traces_dispose(&all);
  return st;
}

static int traces_dearest(const void *a, const void *b) {
  const traces_span *left = a, *right = b;

  if (left->total != right->total)
    return left->total > right->total ? -1 : 1;
  return (left->start_ns < right->start_ns) -
         (left->start_ns > right->start_ns);
}

static void traces_put(sp_api *api, const traces_span *root) {
  sp_json *json = &api->json;

  sp_json_open(json, '{');
  sp_api_put_trace_id(api, "traceId", &root->trace_id);
  sp_api_put_span_id(api, "rootSpanId", root->span_id);
  sp_json_member_text(json, "name", root->name);
  sp_json_member_text(json, "service", root->service);
  sp_json_member_int(json, "startNs", root->start_ns);
  sp_json_member_int(json, "durationNs", root->duration_ns);
  sp_json_member_int(json, "status", root->status);
  sp_json_member_int(json, "total", root->total);
  sp_json_member_int(json, "samples", (int64_t)root->samples);
  sp_json_member_int(json, "errors", (int64_t)root->errors);
  sp_json_key(json, "rootMissing");
  sp_json_bool(json, root->parent_id != 0);
  sp_json_close(json, '}');
}

/* Parse the parameter `sort`. */
static spanprof_status traces_sort_of(sp_api *api, bool *slowest,
                                      bool *dearest) {
  const char *sort = sp_api_parameter(api, "sort");

  *slowest = sort && strcmp(sort, "slowest") == 0;
  *dearest = sort && strcmp(sort, "dearest") == 0;
  if (sort && !*slowest && !*dearest && strcmp(sort, "latest") != 0)
    return sp_query_invalid(
        &api->query, "sort must be one of latest, slowest, dearest: \"%s\"",
        sort);
  return SPANPROF_OK;
}

spanprof_status sp_api_traces(sp_api *api) {
  traces_spans roots = {.api = api};
  bool slowest = false, dearest = false;
  size_t i, first, limit = 0, after = 0;
  int64_t count = 0;
  sp_store_span_filter filter;
  spanprof_status st = sp_api_trace_filter(api, &filter);

  if (!st)
    st = sp_api_page(api, &limit, &after);
  if (!st)
    st = traces_sort_of(api, &slowest, &dearest);
  if (st)
    return st;
  filter.order = slowest ? SP_STORE_SPANS_SLOWEST : SP_STORE_SPANS_LATEST;
  filter.limit = dearest ? TRACES_CANDIDATES : limit + 1;
  filter.offset = dearest ? 0 : after;
  st = traces_read(&roots, &filter);
  if (!st)
    st = sp_store_span_count(api->query.serve->store, &filter, &count);
  if (!st)
    st = traces_cost_roots(
        &roots, dearest ? roots.count : sp_min_u64(roots.count, limit),
        api->plan.selector.profile_type);
  if (!st && dearest && roots.count)
    qsort(roots.spans, roots.count, sizeof *roots.spans, traces_dearest);
  /* The index of the page's first trace in `roots`. */
  first = after - filter.offset;
  sp_json_open(&api->json, '{');
  sp_json_member_open(&api->json, "traces", '[');
  for (i = first; !st && i < roots.count && i - first < limit; i++)
    traces_put(api, &roots.spans[i]);
  sp_json_close(&api->json, ']');
  sp_json_member_int(&api->json, "count", count);
  if (!st)
    sp_api_put_after(api, filter.offset + i, filter.offset + roots.count);
  sp_json_close(&api->json, '}');
  traces_dispose(&roots);
  return st;
}

static void trace_put_span(sp_api *api, const traces_span *span) {
  sp_json *json = &api->json;

  sp_json_open(json, '{');
  sp_api_put_span_id(api, "spanId", span->span_id);
  sp_api_put_span_id(api, "parentId", span->parent_id);
  sp_json_member_text(json, "name", span->name);
  sp_json_member_text(json, "service", span->service);
  sp_json_member_int(json, "kind", span->kind);
  sp_json_member_int(json, "startNs", span->start_ns);
  sp_json_member_int(json, "durationNs", span->duration_ns);
  sp_json_member_int(json, "status", span->status);
  sp_json_member_text(json, "statusMessage", span->message);
  sp_json_key(json, "attributes");
  sp_json_raw(json, *span->attributes ? span->attributes : "{}");
  sp_json_member_int(json, "own", span->own);
  sp_json_member_int(json, "total", span->total);
  sp_json_member_int(json, "samples", (int64_t)span->samples);
  sp_json_close(json, '}');
}

static void trace_put_text(sp_json *json, const char *name, const char *text) {
  sp_json_key(json, name);
  if (text)
    sp_json_text(json, text);
  else
    sp_json_null(json);
}

static int trace_window_order(const void *a, const void *b) {
  const traces_window *left = a, *right = b;

  if (left->time_ns != right->time_ns)
    return left->time_ns < right->time_ns ? -1 : 1;
  return (left->span_id > right->span_id) - (left->span_id < right->span_id);
}

static void trace_put_windows(traces_spans *list) {
  sp_api *api = list->api;
  sp_json *json = &api->json;
  size_t i;

  if (list->window_count)
    qsort(list->windows, list->window_count, sizeof *list->windows,
          trace_window_order);
  sp_json_member_open(json, "windows", '[');
  for (i = 0; i < list->window_count; i++) {
    const traces_window *window = &list->windows[i];

    sp_json_open(json, '{');
    sp_api_put_span_id(api, "spanId", window->span_id);
    trace_put_text(json, "service", window->service);
    trace_put_text(json, "threadName", window->thread_name);
    trace_put_text(json, "threadId", window->thread_id);
    sp_json_member_int(json, "startNs", window->time_ns);
    sp_json_member_int(json, "durationNs", window->duration_ns);
    sp_json_member_int(json, "value", window->value);
    sp_json_member_int(json, "samples", (int64_t)window->samples);
    sp_json_close(json, '}');
  }
  sp_json_close(json, ']');
}

static int trace_order(const void *a, const void *b) {
  const traces_span *left = a, *right = b;

  if (left->start_ns != right->start_ns)
    return left->start_ns < right->start_ns ? -1 : 1;
  return (left->span_id > right->span_id) - (left->span_id < right->span_id);
}

spanprof_status sp_api_trace(sp_api *api) {
  const char *text = api->query.http->path_suffix;
  const sp_texts ids = {.texts = &text, .count = 1};
  sp_store_span_filter filter = {.limit = TRACES_SPANS_MAX,
                                 .cancel = api->query.http->cancel};
  traces_spans list = {.api = api,
                       .with_windows = sp_api_parameter(api, "windows")};
  size_t i;
  spanprof_status st = sp_api_plan(api);

  if (!st)
    st = sp_query_plan_traces(&api->plan, &ids);
  if (st)
    return st;
  filter.trace_ids = api->plan.selector.trace_ids;
  filter.trace_count = api->plan.selector.trace_count;
  if (filter.trace_count)
    st = traces_read(&list, &filter);
  if (!st && list.count == 0)
    st = sp_query_refuse(&api->query.fault, SP_CODE_NOT_FOUND,
                         "trace %s is not stored", text);
  if (!st)
    st = traces_cost(&list, api->plan.selector.profile_type);
  if (!st)
    st = traces_add_up(&list);
  if (!st) {
    qsort(list.spans, list.count, sizeof *list.spans, trace_order);
  }
  sp_json_open(&api->json, '{');
  if (!st)
    sp_api_put_trace_id(api, "traceId", filter.trace_ids);
  sp_json_member_open(&api->json, "spans", '[');
  for (i = 0; !st && i < list.count; i++)
    trace_put_span(api, &list.spans[i]);
  sp_json_close(&api->json, ']');
  if (!st && list.with_windows)
    trace_put_windows(&list);
  sp_json_close(&api->json, '}');
  traces_dispose(&list);
  return st;
}
