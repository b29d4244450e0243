/* Our own calls under /api/v1: parameters in, JSON out. What is wrong is said
 * as problem+json (RFC 9457). Described in core/docs/server-api.md. */
#ifndef SP_API_CALL_H
#define SP_API_CALL_H

#include "server/query/wire/json_writer.h"
#include "server/query/wire/query_plan.h"

#define SP_API_LIMIT_DEFAULT 100
#define SP_API_LIMIT_MAX     10000

typedef struct sp_api {
  sp_query query;
  sp_query_plan plan;
  sp_http_response *response;
  sp_json json;     /* of the body */
  const char *side; /* "left" or "right", where that is at fault; or NULL */
} sp_api;

typedef spanprof_status (*sp_api_run)(sp_api *api);

/* A parameter; NULL where it is missing or empty. */
const char *sp_api_parameter(const sp_api *api, const char *name);

/* Plan what `query`, `type`, `from`, `until`, `span`, `trace` and `profile` ask
 * for; the last hour where there is no range. SPANPROF_ERR_ARGUMENT. */
spanprof_status sp_api_plan(sp_api *api);

/* `from` and `until` alone; the last hour where they are missing. */
spanprof_status sp_api_range(sp_api *api, int64_t *from_ms, int64_t *until_ms);

/* sp_api_plan() of another plan, of parameters that begin with `side`:
 * "leftQuery", "leftFrom". */
spanprof_status sp_api_plan_side(sp_query_plan *plan, const char *side);

/* Where a plan asks for traces: select the spans of those that are kept, and of
 * samples that tell their trace. */
spanprof_status sp_api_plan_trace_spans(sp_query_plan *plan);

/* A number of rows; `limit` and `after`. */
spanprof_status sp_api_page(sp_api *api, size_t *limit, size_t *after);

/* The member `after` of an answer: where the next page begins, or null. */
void sp_api_put_after(sp_api *api, size_t next, size_t count);

/* A whole number; `otherwise` where it is missing. */
spanprof_status sp_api_number(sp_api *api, const char *name, int64_t otherwise,
                              int64_t *out);

/* An id as it is written, and the label of one. */
void sp_api_put_span_id(sp_api *api, const char *name, uint64_t span_id);
void sp_api_put_trace_id(sp_api *api, const char *name,
                         const sp_trace_id *trace_id);

/* The calls; api_lists.c, api_series.c, api_spans.c, api_traces.c,
 * api_profile.c, api_annotations.c. */
spanprof_status sp_api_applications(sp_api *api);
spanprof_status sp_api_labels(sp_api *api);
spanprof_status sp_api_gaps(sp_api *api);
spanprof_status sp_api_series(sp_api *api);
spanprof_status sp_api_build(sp_api *api);
spanprof_status sp_api_spans(sp_api *api);
spanprof_status sp_api_traces(sp_api *api);
spanprof_status sp_api_trace(sp_api *api);
spanprof_status sp_api_profile(sp_api *api);
spanprof_status sp_api_diff(sp_api *api);
spanprof_status sp_api_annotations(sp_api *api);
spanprof_status sp_api_annotation_remove(sp_api *api);

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_api_routes(sp_http_routes *routes, sp_serve *serve);

#endif
