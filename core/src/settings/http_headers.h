/* Extra headers of every upload: "Name: value" lines, a "name=value,..." list
 * or a JSON object of texts (as Pyroscope's Java agent has it). */
#ifndef SP_HTTP_HEADERS_H
#define SP_HTTP_HEADERS_H

#include "given.h"
#include "util/memory/mem.h"

typedef struct sp_http_headers {
  const sp_mem *mem;
  char **lines; /* "Name: value" */
  size_t count;
  size_t capacity;
} sp_http_headers;

/* Which of the three it is: JSON starts with `{`; else the first `:` or `=`
 * tells, since neither may stand in a name. Lists know no escapes: a value with
 * a comma needs another form. A header without a value is not sent, as
 * everywhere.
 * SPANPROF_ERR_ARGUMENT, in a sentence that never shows a value: no colon or
 * equals sign, a name that is no token, a control character, JSON that does not
 * parse, a header that belongs to the request itself. On failure `out` is
 * empty. */
spanprof_status sp_http_headers_parse(sp_http_headers *out, const sp_mem *mem,
                                      const sp_given *given);
void sp_http_headers_dispose(sp_http_headers *headers);

/* Add one header; checks as above. */
spanprof_status sp_http_headers_add(sp_http_headers *headers,
                                    const sp_given *given, const char *name,
                                    size_t name_bytes, const char *value,
                                    size_t value_bytes);

/* Whether a header of that name, in any case, is there. */
bool sp_http_headers_have(const sp_http_headers *headers, const char *name);

#endif
