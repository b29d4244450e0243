#include "query.h"

#include "server/query/calls/api_call.h"
#include "server/query/calls/query_connect.h"
#include "server/query/calls/render.h"

spanprof_status sp_query_routes(sp_http_routes *routes, sp_serve *serve) {
  spanprof_status st = sp_query_connect_routes(routes, serve);

  if (!st)
    st = sp_render_routes(routes, serve);
  return st ? st : sp_api_routes(routes, serve);
}
