#include <string.h>
#include <strings.h>

#include "http.h"

const char *sp_http_header(const sp_http_request *request, const char *name) {
  size_t i;

  for (i = 0; i < request->headers.count; i++)
    if (strcasecmp(request->headers.pairs[i].name, name) == 0)
      return request->headers.pairs[i].value;
  return NULL;
}

const char *sp_http_query(const sp_http_request *request, const char *name) {
  return sp_text_pairs_find(&request->query, name);
}

/* RFC 9110, section 8.3.1. */
bool sp_http_is_type(const char *type, const char *name) {
  const size_t size = strlen(name);

  if (!type || strncasecmp(type, name, size) != 0)
    return false;
  type += size + strspn(type + size, " \t");
  return !*type || *type == ';';
}

/* RFC 9110, section 12.5.3. Weights are ignored, except that "gzip;q=0" is a
 * refusal. */
bool sp_http_accepts_gzip(const sp_http_request *request) {
  const char *accept = sp_http_header(request, "Accept-Encoding");
  const char *gzip = accept ? strcasestr(accept, "gzip") : NULL;

  if (!gzip)
    return false;
  gzip += strlen("gzip");
  gzip += strspn(gzip, " ");
  if (*gzip != ';')
    return true;
  gzip += 1 + strspn(gzip + 1, " ");
  return strncasecmp(gzip, "q=0", 3) != 0 ||
         gzip[3 + strspn(gzip + 3, ".0")] > '0';
}

bool sp_http_asks_for_page(const sp_http_request *request) {
  const char *accept = sp_http_header(request, "Accept");

  return strcmp(request->method, "GET") == 0 && accept &&
         strcasestr(accept, "text/html");
}

spanprof_status sp_http_routes_add(sp_http_routes *routes,
                                   const sp_http_route *route) {
  void *array = routes->routes;
  spanprof_status st = sp_mem_reserve(routes->mem, &array, &routes->capacity,
                                      routes->count + 1, sizeof *route);

  if (st)
    return st;
  routes->routes = array;
  routes->routes[routes->count++] = *route;
  return SPANPROF_OK;
}

void sp_http_routes_dispose(sp_http_routes *routes) {
  sp_mem_free(routes->mem, routes->routes);
  routes->routes = NULL;
  routes->count = 0;
  routes->capacity = 0;
}

/* Returns whether `method` is in a list such as "GET,POST". */
static bool routes_has_method(const char *list, const char *method) {
  const size_t size = strlen(method);
  const char *at;

  if (strcmp(method, "HEAD") == 0 && routes_has_method(list, "GET"))
    return true;
  for (at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, method, size) == 0 && (at[size] == ',' || !at[size]))
      return true;
  }
  return false;
}

/* Returns how well the route's path matches, or 0 if it does not match. A
 * longer path is a better match, and an exact path is better than a prefix. */
static size_t routes_fit(const sp_http_route *route, const char *path,
                         const char **path_suffix) {
  const size_t size = strlen(route->path);

  if (size && route->path[size - 1] == '*') {
    *path_suffix = path + size - 1;
    return strncmp(route->path, path, size - 1) == 0 ? size : 0;
  }
  *path_suffix = "";
  return strcmp(route->path, path) == 0 ? size + 1 : 0;
}

/* Find a route with SP_HTTP_ANYWHERE that matches the end of the path and has
 * the method. */
static const sp_http_route *routes_anywhere(const sp_http_routes *routes,
                                            const char *method,
                                            const char *path) {
  const size_t size = strlen(path);
  size_t i;

  for (i = 0; i < routes->count; i++) {
    const sp_http_route *route = &routes->routes[i];
    const size_t own = strlen(route->path);

    if ((route->flags & SP_HTTP_ANYWHERE) && size > own &&
        strcmp(path + size - own, route->path) == 0 &&
        routes_has_method(route->methods, method))
      return route;
  }
  return NULL;
}

const sp_http_route *sp_http_routes_find(const sp_http_routes *routes,
                                         const char *method, const char *path,
                                         const char **path_suffix,
                                         const char **allow,
                                         bool *sends_allow) {
  const sp_http_route *best = NULL;
  size_t best_fit = 0, allow_fit = 0, i;
  const char *behind;

  *path_suffix = "";
  *allow = NULL;
  *sends_allow = false;
  for (i = 0; i < routes->count; i++) {
    const sp_http_route *route = &routes->routes[i];
    const size_t fit = routes_fit(route, path, &behind);

    if (fit > best_fit && routes_has_method(route->methods, method)) {
      best = route;
      best_fit = fit;
      *path_suffix = behind;
    } else if (fit > allow_fit) {
      allow_fit = fit;
      *allow = route->methods;
      *sends_allow = route->flags & SP_HTTP_ALLOW_HEADER;
    }
  }
  if (best_fit >= allow_fit)
    return best ? best : routes_anywhere(routes, method, path);
  *path_suffix = "";
  return NULL;
}
