/* /push.v1.PusherService/Push. */
#ifndef SP_PUSH_H
#define SP_PUSH_H

#include "server/http/message/http.h"

/* Largest size of a request, as it was sent. */
#define SP_PUSH_BYTES_MAX ((size_t)64 << 20)

/* The handler of the route. `data` is an sp_serve. */
void sp_push_handle(void *data, const sp_http_request *request,
                    sp_http_response *response);

#endif
