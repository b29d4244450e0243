/* The page, at the address of each of its views. */
#ifndef SP_PAGE_ROUTES_H
#define SP_PAGE_ROUTES_H

#include "server/http/message/http.h"

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_page_routes(sp_http_routes *routes);

#endif
