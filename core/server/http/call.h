/* One request, from its first header to the end of its answer. */
#ifndef SP_HTTP_CALL_H
#define SP_HTTP_CALL_H

#include <microhttpd.h>

#include "connections.h"
#include "guard.h"
#include "server/http/message/http.h"
#include "server/model/gate.h"
#include "workers.h"

struct sp_http_server;

typedef struct sp_http_call {
  sp_work work; /* must be the first member */
  struct sp_http_server *server;
  sp_gate *large; /* the server's gate, through which one call at a time may use
                   * much memory */
  struct MHD_Connection *connection;
  const sp_http_route *route; /* NULL: the call is answered without a handler */
  const sp_http_route *counted_route; /* the route for the metrics; may be set
                                       * even if `route` is NULL */
  sp_http_request request;
  sp_http_response response;
  sp_buffer body;
  size_t body_seen;      /* bytes of the body received, including dropped
                          * ones */
  size_t counted;        /* bytes that count in the budget for bodies */
  size_t answer_counted; /* bytes that count in the budget for answers */
  uint64_t begin_ns;
  sp_connection *tracked; /* NULL if the connection is not tracked */
  sp_cancel cancel;
  sp_text_pair *pairs; /* headers, then parameters of the query string */
  size_t pair_count;
  size_t pair_capacity;
  size_t header_count;
  sp_buffer texts;
  char *path;         /* path without doubled slashes, which is used to find the
                       * route */
  bool out_of_memory; /* memory ran out while the request was read */
  bool counts;        /* the call is counted as in flight */
  bool running;       /* the call was passed to a worker */
  bool is_retry;      /* the handler runs again, because it needs much memory */
  bool is_large;      /* the call has entered the gate `large` */
  _Atomic bool answered;
} sp_http_call;

/* Read the request line and headers of a new call. Returns NULL if there is no
 * memory. */
sp_http_call *sp_http_call_new(struct sp_http_server *server,
                               struct MHD_Connection *connection,
                               const char *url, const char *method);

void sp_http_call_free(sp_http_call *call); /* `call` may be NULL */

/* Find the route by the path without `base_path` (base_path.h; may be NULL), or
 * by the path without "/pyroscope", the prefix under which Pyroscope is often
 * deployed. If there is no route, or `guard` refuses the request, fill the
 * response. */
void sp_http_call_find(sp_http_call *call, const sp_http_routes *routes,
                       const char *base_path, const sp_guard *guard);

/* Run the route's handler, and compress the response if `gzip` of the response
 * is set. Called on a worker. If the handler has set `needs_large` in the
 * response, the caller calls sp_http_call_set_retry() and then this function
 * again. */
void sp_http_call_run(sp_http_call *call);

/* Discard the response. The next sp_http_call_run() waits until the call may
 * use much memory. */
void sp_http_call_set_retry(sp_http_call *call);

/* Queue the answer. Returns libmicrohttpd's result. */
enum MHD_Result sp_http_call_answer(sp_http_call *call);

/* Write the answer directly to the socket of a request that was cut off,
 * because libmicrohttpd closes such a connection without an answer. */
void sp_http_call_answer_cut(sp_http_call *call, int socket);

#endif
