#include "page_routes.h"

#include "page/built_page.h"
#include "util/system/status.h"

/* The addresses of the views in core/page/src/model/state.ts. */
static const char *const page_paths[] = {
    "/",      "/services", "/labels",     "/spans",           "/span",
    "/trace", "/traces",   "/comparison", "/comparison-diff", "/adhoc",
};

static void page_missing(sp_http_response *response, int status) {
  sp_http_answer(response, status, "text/plain; charset=utf-8",
                 "spanprof " SPANPROF_VERSION
                 " receives profiles and traces here; " SP_BUILT_PAGE_MISSING
                 ".\nIn Grafana, add a Pyroscope data source with this "
                 "address.\n");
}

static void page_send(const sp_http_request *request,
                      sp_http_response *response, int status) {
  size_t size;
  const char *page = sp_built_page(&size);

  if (size == 0) {
    page_missing(response, status);
    return;
  }
  sp_http_answer(response, status, "text/html; charset=utf-8", "");
  sp_buffer_append(&response->body, page, size);
  response->gzip = sp_http_accepts_gzip(request);
  /* The page contains its own policy for scripts. But only a header can forbid
   * other sites to show the page in a frame. */
  sp_http_set(response, "Content-Security-Policy", "frame-ancestors 'none'");
  sp_http_set(response, "X-Content-Type-Options", "nosniff");
  sp_http_set(response, "Referrer-Policy", "no-referrer");
  sp_http_set(response, "Cache-Control", "no-cache");
}

static void page_answer(void *data, const sp_http_request *request,
                        sp_http_response *response) {
  (void)data;
  page_send(request, response, 200);
}

/* The page says that the address is unknown, and shows links. */
static void page_answer_unknown(void *data, const sp_http_request *request,
                                sp_http_response *response) {
  (void)data;
  page_send(request, response, 404);
}

spanprof_status sp_page_routes(sp_http_routes *routes) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  routes->unknown = (sp_http_route){.methods = "GET",
                                    .path = "*",
                                    .handler = page_answer_unknown,
                                    .flags = SP_HTTP_OPEN};
  for (i = 0; !st && i < SP_COUNT_OF(page_paths); i++) {
    const sp_http_route route = {
        .methods = "GET",
        .path = page_paths[i],
        .handler = page_answer,
        /* The page needs no token, because it contains no data. The calls that
         * it makes require the token. */
        .flags = SP_HTTP_OPEN};

    st = sp_http_routes_add(routes, &route);
  }
  return st;
}
