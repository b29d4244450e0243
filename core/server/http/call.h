/* One request under way: from its first header to the end of its answer. */
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
  sp_work work; /* first: what a worker is given */
  struct sp_http_server *server;
  sp_gate *large; /* the server's, for calls that use much memory */
  struct MHD_Connection *connection;
  const sp_http_route *route;         /* NULL: answered already */
  const sp_http_route *counted_route; /* whose request it is all the same */
  sp_http_request request;
  sp_http_response response;
  sp_buffer body;
  size_t body_seen;      /* bytes, kept or not */
  size_t counted;        /* of the server's bytes for bodies */
  size_t answer_counted; /* likewise of those for answers */
  uint64_t begin_ns;
  sp_connection *of; /* NULL: the connection is not tracked */
  sp_cancel cancel;
  sp_text_pair *pairs; /* of headers and query; texts of the query and paths
                        * are in `texts` */
  size_t pair_count;
  size_t pair_room;
  size_t header_count;
  sp_buffer texts;
  char *path;    /* the one that is matched */
  bool broken;   /* no memory for the request */
  bool begun;    /* the first call of the handler is over */
  bool counts;   /* among the calls at work */
  bool running;  /* handed to a worker */
  bool is_retry; /* the handler runs again, because it needs much memory */
  bool is_large; /* inside the gate `large` */
  _Atomic bool answered;
} sp_http_call;

/* The request line and headers of a new call. NULL: no memory. */
sp_http_call *sp_http_call_new(struct sp_http_server *server,
                               struct MHD_Connection *connection,
                               const char *url, const char *method);

void sp_http_call_free(sp_http_call *call); /* NULL is fine */

/* Find the route by the path, or by the path without the prefix that Pyroscope
 * is often deployed under. If there is no route, the call is answered. */
void sp_http_call_find(sp_http_call *call, const sp_http_routes *routes,
                       const sp_guard *guard);

/* Run the route's handler and compress the response if it asks for that. Called
 * on a worker. If the response then has `needs_large`, pass the call to
 * sp_http_call_set_retry() and run it again. */
void sp_http_call_run(sp_http_call *call);

/* Discard the response. The next sp_http_call_run() waits until the call may
 * use much memory. */
void sp_http_call_set_retry(sp_http_call *call);

/* Queue the answer. */
enum MHD_Result sp_http_call_answer(sp_http_call *call);

/* The answer to a request that was cut off, straight to its socket: its
 * connection is closed without one by libmicrohttpd. */
void sp_http_call_answer_cut(sp_http_call *call, int socket);

#endif
