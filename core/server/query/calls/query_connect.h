/* The routes of the query calls of the Connect protocol. */
#ifndef SP_QUERY_CONNECT_H
#define SP_QUERY_CONNECT_H

#include "server/query/wire/query_plan.h"

#define SP_QUERY_BODY_MAX ((size_t)1 << 20)
/* Bytes of a request with a profile in base64. */
#define SP_ADHOC_BODY_MAX ((size_t)24 << 20)

/* Add a route for each call. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_query_connect_routes(sp_http_routes *routes,
                                        sp_serve *serve);

#endif
