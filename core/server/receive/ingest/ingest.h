/* /ingest, the protocol of Pyroscope's older agents and of its Go agent. */
#ifndef SP_INGEST_H
#define SP_INGEST_H

#include "server/http/message/http.h"

#define SP_INGEST_BYTES_MAX ((size_t)64 << 20)

/* The handler of the route. `data` is an sp_serve. */
void sp_ingest_handle(void *data, const sp_http_request *request,
                      sp_http_response *response);

#endif
