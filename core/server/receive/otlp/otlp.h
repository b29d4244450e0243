/* /v1development/profiles: OTLP over HTTP, in protobuf and JSON. */
#ifndef SP_OTLP_H
#define SP_OTLP_H

#include "server/http/message/http.h"

#define SP_OTLP_BYTES_MAX ((size_t)32 << 20)

/* The handler of the route. `data` is an sp_serve. */
void sp_otlp_handle(void *data, const sp_http_request *request,
                    sp_http_response *response);

#endif
