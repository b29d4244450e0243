/* Extra headers of every upload: lines "Name: value", a list
 * "name=value,name=value", or a JSON object of texts (as in Pyroscope's Java
 * agent). */
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

/* Parse headers. JSON starts with `{`. Otherwise the first `:` or `=` decides
 * between lines and a list, because a name cannot contain them. A list has no
 * escapes: a value with a comma needs another form. Headers without a value are
 * not sent.
 *
 * SPANPROF_ERR_ARGUMENT: there is no colon or equals sign, a name is not a
 * token, there is a control character, JSON does not parse, or the header
 * belongs to the request itself. The message never contains a value. On failure
 * `out` is empty. */
spanprof_status sp_http_headers_parse(sp_http_headers *out, const sp_mem *mem,
                                      const sp_option_value *given);
void sp_http_headers_dispose(sp_http_headers *headers);

/* Add a header, with the same checks. */
spanprof_status sp_http_headers_add(sp_http_headers *headers,
                                    const sp_option_value *given,
                                    const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes);

/* Is there a header of this name, in any case? */
bool sp_http_headers_have(const sp_http_headers *headers, const char *name);

#endif
