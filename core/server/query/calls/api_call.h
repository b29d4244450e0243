/* The server's own calls under /api/v1, which take parameters and respond with
 * JSON. Errors are problem+json (RFC 9457). core/docs/server-api.md describes
 * them. */
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
  sp_json json;     /* writes the body */
  const char *side; /* the side with the error, "left" or "right", or NULL */
} sp_api;

typedef spanprof_status (*sp_api_run)(sp_api *api);

/* Returns a parameter, or NULL if it is missing or empty. */
const char *sp_api_parameter(const sp_api *api, const char *name);

/* Set api->plan from the parameters `query`, `type`, `from`, `until`, `span`,
 * `trace` and `profile`. The default range is the last hour. Returns
 * SPANPROF_ERR_ARGUMENT and sets the query's fault if a parameter is
 * invalid. */
spanprof_status sp_api_plan(sp_api *api);

/* Get the range from `from` and `until`. The default is the last hour. */
spanprof_status sp_api_range(sp_api *api, int64_t *from_ms, int64_t *until_ms);

/* Set the plan of one side of a comparison, as sp_api_plan() does. The names of
 * the parameters begin with `side`: "leftQuery", "leftFrom". */
spanprof_status sp_api_plan_side(sp_query_plan *plan, const char *side);

/* If a plan selects traces, select their spans instead. The spans are taken
 * from the stored traces and from samples with trace ids. */
spanprof_status sp_api_plan_trace_spans(sp_query_plan *plan);

/* Get the parameters `limit` and `after` of a list: the page has at most
 * `limit` rows and begins after the first `after` rows. */
spanprof_status sp_api_page(sp_api *api, size_t *limit, size_t *after);

/* Write the member `after`, with which a client requests the next page: `next`,
 * or null if the list has no more than `next` of its `count` rows. */
void sp_api_put_after(sp_api *api, size_t next, size_t count);

/* Get the whole number from 0 in a parameter, or `otherwise` if it is
 * missing. */
spanprof_status sp_api_number(sp_api *api, const char *name, int64_t otherwise,
                              int64_t *out);

/* Write an id in hexadecimal. */
void sp_api_put_span_id(sp_api *api, const char *name, uint64_t span_id);
void sp_api_put_trace_id(sp_api *api, const char *name,
                         const sp_trace_id *trace_id);

/* The calls. They are defined in api_lists.c, api_series.c, api_spans.c,
 * api_profile.c, api_lines.c and api_annotations.c. */
spanprof_status sp_api_applications(sp_api *api);
spanprof_status sp_api_labels(sp_api *api);
spanprof_status sp_api_gaps(sp_api *api);
spanprof_status sp_api_series(sp_api *api);
spanprof_status sp_api_build(sp_api *api);
spanprof_status sp_api_spans(sp_api *api);
spanprof_status sp_api_profile(sp_api *api);
spanprof_status sp_api_lines(sp_api *api);
spanprof_status sp_api_diff(sp_api *api);
spanprof_status sp_api_annotations(sp_api *api);
spanprof_status sp_api_annotation_remove(sp_api *api);

/* A route and its call. */
typedef struct sp_api_route {
  const char *methods;
  const char *path;
  sp_api_run run;
  size_t body_max;
  sp_serve *serve; /* set by sp_api_route_add() */
} sp_api_route;

/* Add a route. `route` must exist as long as the server. Can return
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_api_route_add(sp_http_routes *routes, sp_api_route *route,
                                 sp_serve *serve);

#endif
