#include "open_page.h"

#include <stdio.h>
#include <string.h>

#include "page/browser.h"
#include "page/built_page.h"
#include "util/system/status.h"

/* Replace an address that stands for all addresses of this machine by one that
 * a browser can open. */
static const char *open_host(const char *host) {
  if (strcmp(host, "0.0.0.0") == 0)
    return "127.0.0.1";
  return strcmp(host, "[::]") == 0 ? "[::1]" : host;
}

spanprof_status sp_open_page(const char *listen, uint16_t port,
                             const char *base_path) {
  const char *colon = strrchr(listen, ':');
  const size_t bytes = colon ? (size_t)(colon - listen) : strlen(listen);
  char host[256], address[600];
  size_t size;

  if (strncmp(listen, "unix:", 5) == 0)
    return sp_fail(
        SPANPROF_ERR_UNSUPPORTED,
        "a browser cannot open a Unix socket: use --listen ADDRESS:PORT");
  sp_built_page(&size);
  if (size == 0)
    return sp_fail(SPANPROF_ERR_UNSUPPORTED, SP_BUILT_PAGE_MISSING);
  snprintf(host, sizeof host, "%.*s", (int)bytes, listen);
  snprintf(address, sizeof address, "http://%s:%u%s/", open_host(host), port,
           base_path ? base_path : "");
  return sp_browser_open(address);
}
