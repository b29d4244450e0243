/* The headers, body and errors of unary calls of the Connect protocol:
 * https://connectrpc.com/docs/protocol. */
#ifndef SP_CONNECT_TRANSPORT_H
#define SP_CONNECT_TRANSPORT_H

#include "server/query/wire/query_plan.h"

typedef struct sp_transport {
  bool is_json; /* the body is JSON; if false, protobuf */
  bool is_gzip; /* the body is compressed, and so is the response */
  const char *body;
  size_t size;
  sp_buffer unpacked; /* the decompressed body */
} sp_transport;

/* Read the headers, and the body of at most `body_max` bytes. If the request is
 * invalid, returns false and fills *response with the error. Dispose of
 * *transport in any case. */
bool sp_transport_open(sp_transport *transport, sp_query *query,
                       size_t body_max, sp_http_response *response);
void sp_transport_dispose(sp_transport *transport);

/* Fill *response with {"code":…,"message":…} and the code's HTTP status. */
void sp_transport_refuse(const sp_query_fault *fault,
                         sp_http_response *response);

#endif
