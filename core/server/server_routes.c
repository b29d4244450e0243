#include "server_routes.h"

#include "page_routes.h"
#include "server/query/query.h"
#include "server/receive/receive.h"
#include "server/traces/traces.h"

typedef spanprof_status (*server_routes_fn)(sp_http_routes *routes,
                                            sp_serve *serve);

/* The function of each component that adds its routes. */
static const server_routes_fn server_route_functions[] = {
    sp_query_routes,
    sp_receive_routes,
    sp_traces_routes,
    NULL,
};

spanprof_status sp_server_routes(sp_http_routes *routes, sp_serve *serve) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && server_route_functions[i]; i++)
    st = server_route_functions[i](routes, serve);
  return st ? st : sp_page_routes(routes);
}
