/* /push.v1.PusherService/Push. */
#ifndef SP_PUSH_H
#define SP_PUSH_H

#include "server/http/message/http.h"

/* Largest size of a request, as sent. */
#define SP_PUSH_BYTES_MAX ((size_t)64 << 20)

/* `data` is an sp_serve. */
void sp_push_handle(void *data, const sp_http_request *request,
                    sp_http_response *response);

#endif
