/* The routes of the web page, one for the address of each of its views. */
#ifndef SP_PAGE_ROUTES_H
#define SP_PAGE_ROUTES_H

#include "server/http/message/http.h"

/* Add the routes. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_page_routes(sp_http_routes *routes);

#endif
