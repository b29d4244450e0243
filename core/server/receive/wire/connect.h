/* Uploads as unary calls of the Connect protocol:
 * https://connectrpc.com/docs/protocol. */
#ifndef SP_CONNECT_H
#define SP_CONNECT_H

#include "refusal.h"
#include "server/http/message/connect_envelope.h"
#include "util/text/view.h"

/* Read the headers. If they are invalid, returns false and writes an error to
 * *response. */
bool sp_connect_open(const sp_http_request *request,
                     sp_connect_envelope *envelope, sp_http_response *response);

/* An sp_http_early: refuses unsupported media types before the body is read. */
bool sp_connect_early(void *data, const sp_http_request *request,
                      sp_http_response *response);

/* Set *out to the message, which is decompressed into `unpacked` if necessary.
 * On an error, returns false and writes the error to *response. */
bool sp_connect_message(const sp_http_request *request,
                        const sp_connect_envelope *envelope,
                        sp_buffer *unpacked, sp_view *out,
                        sp_http_response *response);

/* Answer an upload that is too large with 413, which no client retries. */
void sp_connect_refuse_large(sp_http_response *response, const char *message);

/* Answer the request with an empty message. */
void sp_connect_done(const sp_http_request *request,
                     const sp_connect_envelope *envelope,
                     sp_http_response *response);

#endif
