#include "query.h"

#include "server/query/calls/api_call.h"
#include "server/query/calls/query_connect.h"
#include "server/query/calls/render.h"
#include "server/query/traces/api_traces.h"

#define API_BODY_MAX ((size_t)64 << 10)

/* Not constant, because each route gets the server. A process has one server,
 * whose routes are never removed. */
static sp_api_route query_api_routes[] = {
    {"GET", "/api/v1/applications", sp_api_applications, 0, NULL},
    {"GET", "/api/v1/labels", sp_api_labels, 0, NULL},
    {"GET", "/api/v1/gaps", sp_api_gaps, 0, NULL},
    {"GET", "/api/v1/series", sp_api_series, 0, NULL},
    {"GET", "/api/v1/status/buildinfo", sp_api_build, 0, NULL},
    {"GET", "/api/v1/spans", sp_api_spans, 0, NULL},
    {"GET", "/api/v1/traces", sp_api_traces, 0, NULL},
    {"GET", "/api/v1/trace/*", sp_api_trace, 0, NULL},
    {"GET", "/api/v1/roots", sp_api_roots, 0, NULL},
    {"GET", "/api/v1/find", sp_api_find, 0, NULL},
    {"GET", "/api/v1/profile", sp_api_profile, 0, NULL},
    {"GET", "/api/v1/lines", sp_api_lines, 0, NULL},
    {"GET", "/api/v1/diff", sp_api_diff, 0, NULL},
    {"GET,POST", "/api/v1/annotations", sp_api_annotations, API_BODY_MAX, NULL},
    {"DELETE", "/api/v1/annotations/*", sp_api_annotation_remove, 0, NULL},
};

spanprof_status sp_query_routes(sp_http_routes *routes, sp_serve *serve) {
  spanprof_status st = sp_query_connect_routes(routes, serve);
  size_t i;

  if (!st)
    st = sp_render_routes(routes, serve);
  for (i = 0; !st && i < SP_COUNT_OF(query_api_routes); i++)
    st = sp_api_route_add(routes, &query_api_routes[i], serve);
  return st;
}
