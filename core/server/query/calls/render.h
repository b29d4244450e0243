/* The calls of classic Pyroscope: /pyroscope/render, /pyroscope/render-diff and
 * /pyroscope/label-values. */
#ifndef SP_RENDER_H
#define SP_RENDER_H

#include "server/query/wire/query_plan.h"

/* Add the routes of these calls. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_render_routes(sp_http_routes *routes, sp_serve *serve);

#endif
