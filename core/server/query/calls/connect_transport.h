/* What a unary call of the Connect protocol says in its headers, and how a
 * failed one is answered: https://connectrpc.com/docs/protocol. */
#ifndef SP_CONNECT_TRANSPORT_H
#define SP_CONNECT_TRANSPORT_H

#include "server/query/wire/query_plan.h"

typedef struct sp_transport {
  bool is_json; /* else protobuf */
  bool is_gzip; /* the body; then the answer, too */
  const char *body;
  size_t size;
  sp_buffer unpacked; /* the body, where it was packed */
} sp_transport;

/* Read the headers and the body, of at most `body_max` bytes. False: *response
 * is the refusal. Pair with sp_transport_dispose() in both cases. */
bool sp_transport_open(sp_transport *transport, sp_query *query,
                       size_t body_max, sp_http_response *response);
void sp_transport_dispose(sp_transport *transport);

/* {"code":…,"message":…} and the code's status. */
void sp_transport_refuse(const sp_query_fault *fault,
                         sp_http_response *response);

#endif
