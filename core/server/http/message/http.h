/* HTTP for the components of the server: routes, requests, responses.
 * libmicrohttpd handles sockets and parsing. Handlers run on worker threads,
 * several at the same time, after the whole body has been read. */
#ifndef SP_HTTP_H
#define SP_HTTP_H

#include "server/model/cancel.h"
#include "server/model/text_pair.h"
#include "util/memory/buffer.h"

/* An error while the body was received. The handler is called with an empty
 * body, and reports the error in its own protocol. */
typedef enum sp_http_fault {
  SP_HTTP_FAULT_NONE,
  SP_HTTP_FAULT_CUT,       /* the client closed the connection before the end of
                            * the body */
  SP_HTTP_FAULT_TOO_LARGE, /* the body is longer than the route's body_max */
  SP_HTTP_FAULT_BUSY, /* other bodies use all memory for bodies: answer 503 or
                       * an equivalent */
} sp_http_fault;

typedef struct sp_http_request {
  const char *method;
  const char *path;      /* percent-decoded, without the base path, the prefix
                          * "/pyroscope" and doubled slashes */
  const char *full_path; /* the whole path, percent-decoded */
  const char
      *path_suffix;    /* part of the path that matched a route's "*", or "" */
  sp_text_pairs query; /* decoded; "+" is a space */
  sp_text_pairs headers; /* with names as sent; use sp_http_header() */
  const void *body;      /* bytes as sent, but without chunked encoding;
                          * followed by a NUL */
  size_t body_size;
  sp_http_fault fault;
  bool is_limited;           /* a handler that needs more memory than
                              * SP_HTTP_SMALL_MAX calls sp_http_try_large() */
  sp_cancel *cancel;         /* cancels the request; long loops check it */
  struct sp_http_call *call; /* NULL: sp_http_try_large() returns false */
} sp_http_request;

/* Returns whether the request may use more memory than SP_HTTP_SMALL_MAX from
 * now on. Only one request at a time may do so; the function does not wait for
 * another one to end. If the result is false, the handler frees its memory,
 * sets `needs_large` in its response and returns. The server then runs the
 * handler again, when it may use more memory. If the function waited, a
 * transaction of the store would stay open, and the store's log could not
 * shrink. Called on the thread of the handler. */
bool sp_http_try_large(const sp_http_request *request);

/* Returns the value of a header, or of a parameter of the query string, or NULL
 * if there is none. Names of headers are compared without regard to case; if a
 * name occurs several times, the first counts. */
const char *sp_http_header(const sp_http_request *request, const char *name);
const char *sp_http_query(const sp_http_request *request, const char *name);

/* Returns whether the Content-Type `type` is the media type `name`. Case and
 * parameters are ignored. NULL matches no type. */
bool sp_http_is_type(const char *type, const char *name);

/* Returns whether the client accepts a gzip answer. */
bool sp_http_accepts_gzip(const sp_http_request *request);

#define SP_HTTP_HEADERS_MAX 16

/* Largest body of a response, before compression. */
#define SP_HTTP_BODY_MAX ((size_t)256 << 20)

/* Limit for the memory of a query, and for the memory of its answer, unless
 * sp_http_try_large() has returned true for it. A query for one span in 7 days
 * of 20 applications needs 17 MiB. */
#define SP_HTTP_SMALL_MAX ((size_t)32 << 20)

/* The response, which a handler fills; it starts with status 200 and no body.
 * The server adds the headers Server and Spanprof-Links, and Retry-After to a
 * 503. */
typedef struct sp_http_response {
  int status;
  sp_buffer body;
  sp_text_pair headers[SP_HTTP_HEADERS_MAX]; /* names and values are copies */
  size_t header_count;
  bool gzip; /* compress the body, even a small one, and set Content-Encoding */
  bool needs_large; /* discard this response and run the handler again when it
                     * may use more memory than SP_HTTP_SMALL_MAX */
} sp_http_response;

/* Compress the complete body if the client accepts that and the body is large
 * enough to benefit. */
void sp_http_pack(const sp_http_request *request, sp_http_response *response);

/* Add a header or replace it. */
void sp_http_set(sp_http_response *response, const char *name,
                 const char *value);

/* Set status, Content-Type and the whole body. With `type` NULL there is no
 * Content-Type. */
void sp_http_answer(sp_http_response *response, int status, const char *type,
                    const char *text);

typedef void (*sp_http_handler)(void *data, const sp_http_request *request,
                                sp_http_response *response);

enum {
  /* The handler may take long. Such requests have their own workers, so they
   * delay only each other. */
  SP_HTTP_SLOW = 1,
  /* The handler changes the state of the server. A request is refused if Origin
   * or Sec-Fetch-Site shows that a page of another site sent it. This check is
   * always made for methods other than GET and HEAD, even without this flag. */
  SP_HTTP_CHANGES = 2,
  /* The request needs no token (/ready, /healthz). */
  SP_HTTP_OPEN = 4,
  /* The answer to a wrong method has an Allow header. */
  SP_HTTP_ALLOW_HEADER = 8,
  /* If no route matches a path, the route also matches when the path ends with
   * the route's path, because base URLs of clients may contain a path. */
  SP_HTTP_ANYWHERE = 16,
};

/* Checks a request before its body is read. Returns true if it has filled the
 * response, so that the handler is not called. */
typedef bool (*sp_http_early)(void *data, const sp_http_request *request,
                              sp_http_response *response);

typedef struct sp_http_route {
  const char *methods; /* "GET", "GET,POST"; GET includes HEAD */
  const char *path;    /* the exact path, or a prefix followed by "*" */
  sp_http_handler handler;
  void *data;
  unsigned flags;
  size_t body_max;     /* largest body in bytes, as sent; 0: no body is
                        * accepted */
  sp_http_early early; /* may be NULL */
  const char *name;    /* name of the route in /metrics; NULL: made from the
                        * path */
} sp_http_route;

/* The table of routes. It is filled before the server starts. The longest
 * matching path wins. For an unknown path, the answer is status 404 with the
 * text "404 page not found", except for browsers if there is a route for them.
 */
typedef struct sp_http_routes {
  const sp_mem *mem;
  sp_http_route *routes;
  size_t count;
  size_t capacity;
  sp_http_route unknown; /* answers browsers, which accept text/html, for
                          * unknown paths; its handler may be NULL */
} sp_http_routes;

/* Whether the request asks for a page: a GET that accepts text/html. */
bool sp_http_asks_for_page(const sp_http_request *request);

/* Add a copy of `route`. Its texts are borrowed, and must not be freed before
 * the routes. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_http_routes_add(sp_http_routes *routes,
                                   const sp_http_route *route);
void sp_http_routes_dispose(sp_http_routes *routes);

/* Find the route for a path and method. If only the method does not match,
 * returns NULL and sets *allow to the methods of this path, and *sends_allow to
 * whether the answer must have an Allow header. For an unknown path, *allow is
 * NULL, too. */
const sp_http_route *sp_http_routes_find(const sp_http_routes *routes,
                                         const char *method, const char *path,
                                         const char **path_suffix,
                                         const char **allow, bool *sends_allow);

#endif
