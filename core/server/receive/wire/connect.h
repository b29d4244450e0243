/* An upload as a unary call of the Connect protocol: its message, and how it is
 * answered: https://connectrpc.com/docs/protocol. */
#ifndef SP_CONNECT_H
#define SP_CONNECT_H

#include "refusal.h"
#include "server/http/message/connect_envelope.h"
#include "util/text/view.h"

/* Read the headers; false: *response holds the refusal. */
bool sp_connect_open(const sp_http_request *request,
                     sp_connect_envelope *envelope, sp_http_response *response);

/* sp_http_early: a type that is not taken is refused before the body. */
bool sp_connect_early(void *data, const sp_http_request *request,
                      sp_http_response *response);

/* The message without the gzip around it; `unpacked` keeps it. False:
 * *response holds the refusal. */
bool sp_connect_message(const sp_http_request *request,
                        const sp_connect_envelope *envelope,
                        sp_buffer *unpacked, sp_view *out,
                        sp_http_response *response);

/* Answer an upload that is too large with 413, which no client retries. */
void sp_connect_refuse_large(sp_http_response *response, const char *message);

/* An empty message. */
void sp_connect_done(const sp_http_request *request,
                     const sp_connect_envelope *envelope,
                     sp_http_response *response);

#endif
