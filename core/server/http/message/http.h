/* HTTP for the server's rooms: routes, requests, answers. The sockets and the
 * parsing are libmicrohttpd's; handlers run on worker threads, several at once,
 * with the whole body read. */
#ifndef SP_HTTP_H
#define SP_HTTP_H

#include "server/model/cancel.h"
#include "server/model/text_pair.h"
#include "util/memory/buffer.h"

/* What went wrong with a body before the handler was called; the handler says
 * it in its protocol's words. `body` is then empty. */
typedef enum sp_http_fault {
  SP_HTTP_FAULT_NONE,
  SP_HTTP_FAULT_CUT,       /* the client ended before the body did */
  SP_HTTP_FAULT_TOO_LARGE, /* over the route's body_max */
  SP_HTTP_FAULT_BUSY,      /* bodies under way take all memory there is for
                            * them: answer 503 or its like */
} sp_http_fault;

typedef struct sp_http_request {
  const char *method;
  const char *path;      /* percent-decoded, without the prefix "/pyroscope" and
                          * doubled slashes */
  const char *full_path; /* as sent, percent-decoded */
  const char *rest;      /* of the path behind a route's "*", else "" */
  sp_text_pairs query;   /* decoded: + is a space */
  sp_text_pairs headers; /* names as sent: use sp_http_header() */
  const void *body;      /* as sent, but without chunking; NUL behind it */
  size_t body_size;
  sp_http_fault fault;
  bool is_limited;           /* a handler that needs more memory than
                              * SP_HTTP_SMALL_MAX calls sp_http_try_large() */
  sp_cancel *cancel;         /* checked by long loops */
  struct sp_http_call *call; /* NULL: sp_http_try_large() returns false */
} sp_http_request;

/* Returns whether the request may use more memory than SP_HTTP_SMALL_MAX from
 * now on. Only one request at a time may do so; the function does not wait for
 * it. If the result is false, the handler frees its memory, sets `needs_large`
 * in its response and returns. The server then runs it again, without this
 * limit. Waiting here instead would keep a transaction of the store open, and
 * the store's log could not shrink meanwhile. Called on the thread of the
 * handler. */
bool sp_http_try_large(const sp_http_request *request);

/* NULL: it is not there. Header names in any case; the first of several. */
const char *sp_http_header(const sp_http_request *request, const char *name);
const char *sp_http_query(const sp_http_request *request, const char *name);

/* Whether a Content-Type is this media type, in any case and whatever its
 * parameters. NULL is none. */
bool sp_http_is_type(const char *type, const char *name);

/* Whether the client takes a gzip answer. */
bool sp_http_takes_gzip(const sp_http_request *request);

#define SP_HTTP_HEADERS_MAX 16

/* Of an answer's body, before it is packed. */
#define SP_HTTP_BODY_MAX ((size_t)256 << 20)

/* The memory that a query, and likewise its answer, may use while others run.
 * See sp_http_try_large(). A query for one span in 7 days of 20 applications
 * uses 17 MiB. */
#define SP_HTTP_SMALL_MAX ((size_t)32 << 20)

/* The answer, which a handler fills; it starts as 200 with nothing in it.
 * Server and Spanprof-Links are added to every one, Retry-After to a 503. */
typedef struct sp_http_response {
  int status;
  sp_buffer body;
  sp_text_pair headers[SP_HTTP_HEADERS_MAX]; /* own copies */
  size_t header_count;
  bool gzip;        /* pack the body and say so, whatever its size */
  bool needs_large; /* discard this response and run the handler again when it
                     * may use more memory than SP_HTTP_SMALL_MAX */
} sp_http_response;

/* Pack the body, which is whole, where the client takes it and it is large
 * enough to gain by it. */
void sp_http_pack(const sp_http_request *request, sp_http_response *response);

/* Set, or replace, a header. */
void sp_http_set(sp_http_response *response, const char *name,
                 const char *value);

/* Status, type and the whole body as text. `type` NULL: no Content-Type. */
void sp_http_answer(sp_http_response *response, int status, const char *type,
                    const char *text);

typedef void (*sp_http_handler)(void *data, const sp_http_request *request,
                                sp_http_response *response);

enum {
  /* May take long: such requests wait for each other, not others for them. */
  SP_HTTP_SLOW = 1,
  /* Changes something: refused where Origin or Sec-Fetch-Site says that a page
   * of another site sent it. Every method but GET and HEAD is, without it. */
  SP_HTTP_CHANGES = 2,
  /* Answered without the token (/ready, /healthz). */
  SP_HTTP_OPEN = 4,
  /* A wrong method is answered with an Allow header. */
  SP_HTTP_SAYS_ALLOW = 8,
  /* Found behind any other path, too, where no route fits the whole one: base
   * URLs of clients may have a path. */
  SP_HTTP_ANYWHERE = 16,
};

/* Looks at a request before its body is read; true: it has answered. */
typedef bool (*sp_http_early)(void *data, const sp_http_request *request,
                              sp_http_response *response);

typedef struct sp_http_route {
  const char *methods; /* "GET", "GET,POST"; HEAD goes with GET */
  const char *path;    /* exact; one that ends in "*" takes all behind it */
  sp_http_handler handler;
  void *data;
  unsigned flags;
  size_t body_max;     /* bytes as sent; 0: it takes no body */
  sp_http_early early; /* may be NULL */
  const char *name;    /* in /metrics; NULL: made of the path */
} sp_http_route;

/* The table of routes; filled before the server starts. The longest path that
 * fits wins. An unknown path is 404 "404 page not found", text/plain. */
typedef struct sp_http_routes {
  const sp_mem *mem;
  sp_http_route *routes;
  size_t count;
  size_t room;
} sp_http_routes;

/* `route` is copied, its texts are borrowed for ever. SPANPROF_ERR_NOMEM. */
spanprof_status sp_http_routes_add(sp_http_routes *routes,
                                   const sp_http_route *route);
void sp_http_routes_dispose(sp_http_routes *routes);

/* The one for a path and method. NULL: none; *allow then is the list of methods
 * that this path has, or NULL, and *says_allow whether the answer names it. */
const sp_http_route *sp_http_routes_find(const sp_http_routes *routes,
                                         const char *method, const char *path,
                                         const char **rest, const char **allow,
                                         bool *says_allow);

#endif
