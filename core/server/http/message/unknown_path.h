/* Recognizes paths of other servers, to which misconfigured agents send their
 * data. */
#ifndef SP_UNKNOWN_PATH_H
#define SP_UNKNOWN_PATH_H

#include "http.h"

/* Returns advice for an agent that uses this path, or NULL for other paths. */
const char *sp_http_unknown_path(const sp_http_request *request);

#endif
