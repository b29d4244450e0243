#include "rooms.h"

#include "page_routes.h"
#include "server/query/query.h"
#include "server/receive/receive.h"
#include "server/traces/traces.h"

typedef spanprof_status (*rooms_routes_fn)(sp_http_routes *routes,
                                           sp_serve *serve);

/* One function of each room. */
static const rooms_routes_fn rooms_list[] = {
    sp_query_routes,
    sp_receive_routes,
    sp_traces_routes,
    NULL,
};

spanprof_status sp_rooms_routes(sp_http_routes *routes, sp_serve *serve) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && rooms_list[i]; i++)
    st = rooms_list[i](routes, serve);
  return st ? st : sp_page_routes(routes);
}
