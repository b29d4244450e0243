/* Access control: checks tokens, and refuses requests that pages of other sites
 * send from a browser on this machine. */
#ifndef SP_GUARD_H
#define SP_GUARD_H

#include "server/http/message/http.h"
#include "token.h"

typedef struct sp_guard {
  sp_token *token; /* borrowed */
  bool loopback; /* Only this machine can connect. Requests whose Host is not a
                  * name of this machine are then refused, because a page that
                  * uses DNS rebinding may have sent them. */
  const char *const *hosts; /* additional names of this machine, borrowed */
  size_t host_count;
} sp_guard;

/* Returns whether the route may answer the request. If not, `response` is
 * filled with the refusal. `route` is NULL for an unknown path. */
bool sp_guard_passes(const sp_guard *guard, const sp_http_route *route,
                     const sp_http_request *request,
                     sp_http_response *response);

/* Returns whether a text can be the name of a machine in the Host header: it
 * has no port and is not a pattern. */
bool sp_guard_is_name(const char *text);

/* Returns whether an address such as "127.0.0.1", "::1" or "localhost" can only
 * be reached from this machine. */
bool sp_guard_is_loopback(const char *host);

#endif
