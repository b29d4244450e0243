/* The option --base-path: a path in front of all paths of the server, for a
 * proxy that serves other programs at other paths of the same site. */
#ifndef SP_BASE_PATH_H
#define SP_BASE_PATH_H

#include "http.h"

/* Returns whether a text is a base path: "/profiles" or "/team/profiles". It
 * has no slash at its end, and no segment "." or "..". */
bool sp_base_path_is(const char *text);

/* Returns `path` without the base path. Paths that do not begin with the base
 * path are returned unchanged. If `path` is the base path, returns "". `base`
 * may be NULL. */
const char *sp_base_path_strip(const char *base, const char *path);

/* Redirect the request for the base path to the same address with a slash,
 * because the addresses in the page are relative. */
void sp_base_path_redirect(const char *base, const sp_http_request *request,
                           sp_http_response *response);

#endif
