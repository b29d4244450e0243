/* The parameter `trace`. Most samples have a span id but no trace id, so the
 * spans of a trace are looked up in the stored traces. */
#include <stdlib.h>
#include <string.h>

#include "api_call.h"

#define TRACE_SPANS_MAX 100000

typedef struct trace_spans {
  const sp_mem *mem;
  uint64_t *ids;
  size_t count, capacity;
  bool kept; /* the store has one of the selected traces */
  spanprof_status st;
} trace_spans;

static bool trace_spans_add(trace_spans *spans, uint64_t id) {
  spans->st = sp_mem_reserve(spans->mem, (void **)&spans->ids, &spans->capacity,
                             spans->count + 1, sizeof *spans->ids);
  if (!spans->st)
    spans->ids[spans->count++] = id;
  return !spans->st;
}

static bool trace_spans_of_trace(void *data, const sp_store_span *span) {
  trace_spans *spans = data;

  spans->kept = true;
  return trace_spans_add(spans, span->span_id);
}

static bool trace_spans_of_sample(void *data, const sp_store_point *point) {
  return point->span_id == 0 || trace_spans_add(data, point->span_id);
}

static int trace_spans_order(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

  return (left > right) - (left < right);
}

/* Make the plan select the spans in `spans` instead of traces. Their ids are
 * copied to the arena, without duplicates. */
static spanprof_status trace_spans_select(trace_spans *spans,
                                          sp_query_plan *plan) {
  uint64_t *ids =
      sp_arena_new(&plan->query->arena, spans->count + 1, sizeof *ids);
  size_t i, count = 0;

  if (!ids)
    return plan->query->arena.st;
  qsort(spans->ids, spans->count, sizeof *spans->ids, trace_spans_order);
  for (i = 0; i < spans->count; i++)
    if (count == 0 || ids[count - 1] != spans->ids[i])
      ids[count++] = spans->ids[i];
  plan->selector.span_ids = ids;
  plan->selector.span_count = count;
  plan->selector.trace_count = 0;
  return SPANPROF_OK;
}

spanprof_status sp_api_plan_trace_spans(sp_query_plan *plan) {
  sp_serve *serve = plan->query->serve;
  trace_spans spans = {.mem = plan->query->mem};
  const sp_store_span_filter filter = {.trace_ids = plan->selector.trace_ids,
                                       .trace_count =
                                           plan->selector.trace_count,
                                       .limit = TRACE_SPANS_MAX,
                                       .cancel = plan->selector.cancel};
  spanprof_status st;

  if (filter.trace_count == 0 || plan->selector.span_count)
    return SPANPROF_OK;
  st = sp_store_spans(serve->store, &filter, trace_spans_of_trace, &spans);
  st = st ? st : spans.st;
  if (!st && spans.kept) {
    st =
        sp_store_points(serve->store, sp_query_plan_selector(plan),
                        SP_STORE_POINT_PER_SPAN, trace_spans_of_sample, &spans);
    st = sp_query_plan_done(plan, st ? st : spans.st);
    if (!st)
      st = trace_spans_select(&spans, plan);
  }
  sp_mem_free(spans.mem, spans.ids);
  return st;
}
