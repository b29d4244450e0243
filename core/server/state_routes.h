/* How the server is: /ready, /healthz, /metrics. */
#ifndef SP_STATE_ROUTES_H
#define SP_STATE_ROUTES_H

#include "server/http/http_server.h"
#include "server/model/serve.h"
#include "server/scrape/scraper.h"

typedef struct sp_state {
  sp_serve *serve;
  /* Set once it runs. */
  _Atomic(sp_http_server *) http;
  /* The same; NULL: nothing is scraped. */
  _Atomic(sp_scraper *) scraper;
} sp_state;

/* `state` is borrowed for ever. SPANPROF_ERR_NOMEM. */
spanprof_status sp_state_routes(sp_http_routes *routes, sp_state *state);

#endif
