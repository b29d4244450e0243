/* The rooms of the server that answer requests, each with its routes. */
#ifndef SP_ROOMS_H
#define SP_ROOMS_H

#include "server/http/message/http.h"
#include "server/model/serve.h"

/* Add the routes of every room. SPANPROF_ERR_NOMEM. */
spanprof_status sp_rooms_routes(sp_http_routes *routes, sp_serve *serve);

#endif
