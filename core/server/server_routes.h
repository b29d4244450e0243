/* The routes of all components of the server. */
#ifndef SP_SERVER_ROUTES_H
#define SP_SERVER_ROUTES_H

#include "server/http/message/http.h"
#include "server/model/serve.h"

/* Add the routes of all components and of the page. Returns SPANPROF_ERR_NOMEM
 * on failure. */
spanprof_status sp_server_routes(sp_http_routes *routes, sp_serve *serve);

#endif
