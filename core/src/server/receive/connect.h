/* The Connect protocol's side of one unary call: what a request declares, and
 * how answers look: https://connectrpc.com/docs/protocol. */
#ifndef SP_CONNECT_H
#define SP_CONNECT_H

#include "../http/http.h"
#include "refusal.h"
#include "view.h"

typedef enum sp_connect_codec {
  SP_CONNECT_PROTO,
  SP_CONNECT_JSON,
} sp_connect_codec;

typedef struct sp_connect_call {
  sp_connect_codec codec;
  bool gzip; /* of the request's body */
} sp_connect_call;

/* Read the headers; false: *response holds the refusal. */
bool sp_connect_open(const sp_http_request *request, sp_connect_call *call,
                     sp_http_response *response);

/* sp_http_early: a type that is not taken is refused before the body. */
bool sp_connect_early(void *data, const sp_http_request *request,
                      sp_http_response *response);

/* The message without the gzip around it; `unpacked` keeps it. False:
 * *response holds the refusal. */
bool sp_connect_message(const sp_http_request *request,
                        const sp_connect_call *call, size_t max,
                        sp_buffer *unpacked, sp_view *out,
                        sp_http_response *response);

/* An empty message. */
void sp_connect_done(const sp_http_request *request,
                     const sp_connect_call *call, sp_http_response *response);

/* `code` is one of Connect's, and gives the HTTP status. */
void sp_connect_error(sp_http_response *response, const char *code,
                      const char *message);

/* {"code":…,"message":…} alone, for other calls that answer so. */
void sp_connect_error_text(sp_buffer *out, const char *code,
                           const char *message);

#endif
