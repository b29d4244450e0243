#include "guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "server/model/base64.h"

#define GUARD_TEXT_MAX (2 * SP_TOKEN_BYTES_MAX)

/* Copy the host from "name:port" or "[::1]:port". The port may be missing. */
static bool guard_host(const char *authority, char *out, size_t capacity) {
  const char *end;
  size_t size;

  if (*authority == '[') {
    authority++;
    end = strchr(authority, ']');
    if (!end)
      return false;
  } else {
    end = authority + strcspn(authority, ":");
  }
  size = (size_t)(end - authority);
  if (size == 0 || size >= capacity)
    return false;
  memcpy(out, authority, size);
  out[size] = '\0';
  return true;
}

static bool guard_ends_with(const char *text, const char *end) {
  const size_t size = strlen(text), end_size = strlen(end);

  return size >= end_size && strcasecmp(text + size - end_size, end) == 0;
}

bool sp_guard_is_loopback(const char *host) {
  struct in_addr v4;
  struct in6_addr v6;

  if (inet_pton(AF_INET, host, &v4) == 1)
    return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, host, &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6);
  return strcasecmp(host, "localhost") == 0 ||
         guard_ends_with(host, ".localhost");
}

bool sp_guard_is_name(const char *text) {
  return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789.-_")] == '\0';
}

/* Returns whether a name is one that containers use for the machine on which
 * they run. No site can have such a name, because .internal is not delegated
 * (ICANN, 29 July 2024) and container runtimes resolve these names themselves.
 */
static bool guard_is_container_host(const char *host) {
  return strcasecmp(host, "host.docker.internal") == 0 ||
         strcasecmp(host, "gateway.docker.internal") == 0 ||
         strcasecmp(host, "host.containers.internal") == 0;
}

/* Check the Host header. A page can make the name of its site resolve to
 * 127.0.0.1, but its requests contain the name or address from which the page
 * was loaded. */
static bool guard_host_passes(const sp_guard *guard,
                              const sp_http_request *request) {
  const char *header = sp_http_header(request, "Host");
  char host[GUARD_TEXT_MAX];
  size_t i;

  if (!guard->loopback || !header)
    return true;
  if (!guard_host(header, host, sizeof host))
    return false;
  for (i = 0; i < guard->host_count; i++)
    if (strcasecmp(guard->hosts[i], host) == 0)
      return true;
  return sp_guard_is_loopback(host) || guard_is_container_host(host);
}

/* Check that the request does not come from another site:
 * https://html.spec.whatwg.org/#origin. Sec-Fetch-Site is checked, too, because
 * some browsers omit Origin. */
static bool guard_origin_passes(const sp_http_request *request) {
  const char *origin = sp_http_header(request, "Origin");
  const char *site = sp_http_header(request, "Sec-Fetch-Site");
  const char *host = sp_http_header(request, "Host");
  const char *authority;

  if (site && strcmp(site, "same-origin") && strcmp(site, "none"))
    return false;
  if (!origin)
    return true;
  authority = strstr(origin, "://");
  return authority && host && strcasecmp(authority + 3, host) == 0;
}

/* Check "Bearer TOKEN", or "Basic" with any user and the token as the password:
 * clients of Pyroscope have options for both. */
static bool guard_token_passes(sp_token *token,
                               const sp_http_request *request) {
  const char *header = sp_http_header(request, "Authorization");
  char decoded[SP_BASE64_CAPACITY(GUARD_TEXT_MAX)];
  const char *colon;
  size_t size;

  if (!header)
    return false;
  if (strncasecmp(header, "Bearer ", 7) == 0) {
    header += 7 + strspn(header + 7, " ");
    return sp_token_is(token, header, strlen(header));
  }
  if (strncasecmp(header, "Basic ", 6) != 0)
    return false;
  header += 6 + strspn(header + 6, " ");
  sp_base64_read(header, strnlen(header, GUARD_TEXT_MAX), SP_BASE64_STANDARD,
                 decoded, &size);
  colon = memchr(decoded, ':', size);
  return colon &&
         sp_token_is(token, colon + 1, size - (size_t)(colon + 1 - decoded));
}

static bool guard_refuse(sp_http_response *response, int status,
                         const char *text) {
  sp_http_answer(response, status, "application/json", text);
  return false;
}

bool sp_guard_passes(const sp_guard *guard, const sp_http_route *route,
                     const sp_http_request *request,
                     sp_http_response *response) {
  const unsigned flags = route ? route->flags : 0;
  const bool reads = strcmp(request->method, "GET") == 0 ||
                     strcmp(request->method, "HEAD") == 0;

  if (!guard_host_passes(guard, request))
    return guard_refuse(
        response, 403,
        "{\"code\":\"permission_denied\",\"message\":\"the Host header is "
        "not a name of this machine; use localhost or 127.0.0.1, or start the "
        "server with --allow-host and that name\"}");
  if ((!reads || flags & SP_HTTP_CHANGES) && !guard_origin_passes(request))
    return guard_refuse(
        response, 403,
        "{\"code\":\"permission_denied\",\"message\":\"a page of another site "
        "may not send this request\"}");
  if (sp_token_is_required(guard->token) && !(flags & SP_HTTP_OPEN) &&
      !guard_token_passes(guard->token, request)) {
    sp_http_set(response, "WWW-Authenticate", "Bearer");
    return guard_refuse(
        response, 401,
        "{\"code\":\"unauthenticated\",\"message\":\"this server requires "
        "the token of its option --token or --token-file: send Authorization: "
        "Bearer TOKEN, or the token as the password of Basic\"}");
  }
  return true;
}
