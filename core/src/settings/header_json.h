/* Headers as a JSON object (RFC 8259) whose values are texts. */
#ifndef SP_HEADER_JSON_H
#define SP_HEADER_JSON_H

#include "http_headers.h"

/* Add the headers of given->text. SPANPROF_ERR_ARGUMENT says at which byte it
 * is not such an object; values are never shown. */
spanprof_status sp_header_json_parse(sp_http_headers *headers,
                                     const sp_given *given);

#endif
