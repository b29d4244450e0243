/* The option http_headers, the extra headers of every upload: lines "Name:
 * value", a list "name=value,name=value", or a JSON object of texts (as in
 * Pyroscope's Java agent). */
#ifndef SP_HTTP_HEADERS_H
#define SP_HTTP_HEADERS_H

#include "option_value.h"
#include "util/memory/mem.h"

typedef struct sp_http_headers {
  const sp_mem *mem;
  char **lines; /* "Name: value" */
  size_t count;
  size_t capacity;
} sp_http_headers;

/* Parse headers. A text that starts with `{` is JSON. Otherwise the text
 * consists of lines "Name: value" if its first `:` is before its first `=`, and
 * is a list if not, because a name contains neither of the two characters. A
 * list has no escapes, so a value with a comma needs another form. Headers
 * without a value are not sent.
 *
 * Returns SPANPROF_ERR_ARGUMENT if there is no colon or equals sign, a name is
 * not a token, there is a control character, the JSON is not valid, or a header
 * belongs to the request itself. The error message never contains a value. If
 * the function fails, `out` is empty. */
spanprof_status sp_http_headers_parse(sp_http_headers *out, const sp_mem *mem,
                                      const sp_option_value *given);
void sp_http_headers_dispose(sp_http_headers *headers);

/* Add a header. Checks the header and returns SPANPROF_ERR_ARGUMENT as
 * sp_http_headers_parse() does. */
spanprof_status sp_http_headers_add(sp_http_headers *headers,
                                    const sp_option_value *given,
                                    const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes);

/* Is there a header of this name, in upper or lower case? */
bool sp_http_headers_have(const sp_http_headers *headers, const char *name);

#endif
