/* Who may ask: tokens, and pages of other sites in a browser on this machine.
 */
#ifndef SP_GUARD_H
#define SP_GUARD_H

#include "server/http/message/http.h"
#include "token.h"

typedef struct sp_guard {
  sp_token *token; /* borrowed */
  bool loopback;   /* only this machine can connect. A request whose Host is not
                    * one of its names then comes from a page by DNS rebinding
                    */
  const char *const *hosts; /* further names of it, borrowed */
  size_t host_count;
} sp_guard;

/* Whether the route may answer the request; if not, `response` says why. The
 * route is NULL for an unknown path. */
bool sp_guard_passes(const sp_guard *guard, const sp_http_route *route,
                     const sp_http_request *request,
                     sp_http_response *response);

/* Whether a text can be a host's name in Host: no port, no pattern. */
bool sp_guard_is_name(const char *text);

/* Whether an address as "127.0.0.1" or "::1" or "localhost" is of this machine
 * alone. */
bool sp_guard_is_loopback(const char *host);

#endif
