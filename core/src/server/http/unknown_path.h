/* Paths of other servers, which agents send to by mistake. */
#ifndef SP_UNKNOWN_PATH_H
#define SP_UNKNOWN_PATH_H

#include "http.h"

/* What an agent that sends to this path should do; NULL: it is not known whose
 * the path is. */
const char *sp_http_unknown_path(const sp_http_request *request);

#endif
