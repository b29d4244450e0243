/* The routes that report the state of the server: /ready, /healthz, /metrics.
 */
#ifndef SP_STATE_ROUTES_H
#define SP_STATE_ROUTES_H

#include "server/http/http_server.h"
#include "server/model/serve.h"
#include "server/scrape/scraper.h"

typedef struct sp_state {
  sp_serve *serve;
  /* Set when the server listens. */
  _Atomic(sp_http_server *) http;
  /* Set when the scraper runs; NULL if nothing is scraped. */
  _Atomic(sp_scraper *) scraper;
} sp_state;

/* Add the routes. `state` is borrowed, and must not be freed before the routes.
 * Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_state_routes(sp_http_routes *routes, sp_state *state);

#endif
