/* Requests whose headers contradict each other. A proxy in front of the server
 * may parse them differently, and may thus check another request than the one
 * that the server answers (request smuggling): RFC 9112, 3.2, 5.1, 6.1 and
 * 11.2. */
#ifndef SP_MALFORMED_H
#define SP_MALFORMED_H

#include "server/http/message/http.h"

/* If the request is malformed, fill the response with a refusal and return
 * true. `version` is for example "HTTP/1.1". */
bool sp_http_refuse_malformed(const sp_http_request *request,
                              const char *version, sp_http_response *response);

#endif
