/* Queries: Pyroscope's calls, and the server's own calls. */
#ifndef SP_QUERY_H
#define SP_QUERY_H

#include "server/http/message/http.h"
#include "server/model/serve.h"

/* Add the routes of all calls. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_query_routes(sp_http_routes *routes, sp_serve *serve);

#endif
