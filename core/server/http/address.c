#include <stdio.h>
#include <string.h>

#include "http_server.h"
#include "util/system/status.h"
#include "util/text/number.h"

spanprof_status sp_http_address(const char *listen, char *host, size_t capacity,
                                uint16_t *port) {
  const char *colon = strrchr(listen, ':'), *begin = listen, *end = colon;
  uint64_t number = 0;

  if (colon && *listen == '[' && colon > listen && colon[-1] == ']') {
    begin++;
    end--;
  }
  /* A host with colons needs brackets, because "::1:4040" may be an address
   * without a port. */
  if (!colon || (*listen != '[' && strchr(listen, ':') != colon) ||
      !sp_number_is(colon + 1, UINT16_MAX, &number) || end <= begin ||
      (size_t)(end - begin) >= capacity)
    return sp_fail(
        SPANPROF_ERR_ARGUMENT,
        "\"%.200s\" is not an address to listen on: give one such as "
        "127.0.0.1:4040 or [::1]:4040",
        listen);
  memcpy(host, begin, (size_t)(end - begin));
  host[end - begin] = '\0';
  *port = (uint16_t)number;
  return SPANPROF_OK;
}

const char *sp_http_unix_path(const char *listen) {
  return strncmp(listen, "unix:", 5) == 0 ? listen + 5 : NULL;
}

void sp_http_server_format_address(const sp_http_server *server, size_t number,
                                   const char *listen, char *out,
                                   size_t capacity) {
  const char *colon = strrchr(listen, ':');

  if (sp_http_unix_path(listen))
    snprintf(out, capacity, "%s", listen);
  else
    snprintf(out, capacity, "http://%.*s:%u", (int)(colon - listen), listen,
             sp_http_server_port_of(server, number));
}
