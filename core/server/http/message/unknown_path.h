/* Paths of other servers to which agents send by mistake. */
#ifndef SP_UNKNOWN_PATH_H
#define SP_UNKNOWN_PATH_H

#include "http.h"

/* Advice for an agent that sends to this path; NULL: an unknown path. */
const char *sp_http_unknown_path(const sp_http_request *request);

#endif
