/* The route for traces: OTLP/HTTP at /v1/traces. */
#ifndef SP_TRACES_H
#define SP_TRACES_H

#include "server/http/message/http.h"
#include "server/model/serve.h"

/* Add the route. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_traces_routes(sp_http_routes *routes, sp_serve *serve);

#endif
