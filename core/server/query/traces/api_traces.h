/* The calls about traces and ids of the page's API. Their contracts are in
 * core/docs/server-api.md. */
#ifndef SP_API_TRACES_H
#define SP_API_TRACES_H

#include "server/query/calls/api_call.h"

spanprof_status sp_api_traces(sp_api *api);
spanprof_status sp_api_trace(sp_api *api);
spanprof_status sp_api_roots(sp_api *api);
spanprof_status sp_api_find(sp_api *api);

/* Get the filter of the calls that list traces: the range, `service`, `name`,
 * `minDurationMs`, `status`, `attributes` and `trace`. */
spanprof_status sp_api_trace_filter(sp_api *api, sp_store_span_filter *out);

#endif
