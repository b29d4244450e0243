/* Parses forms. The first line of the input is the Content-Type, the remainder
 * is the body. All parts that are visited must be inside the body. */
#include <stdlib.h>

#include "server/receive/wire/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool visit(void *data, sp_view name, sp_view content) {
  const sp_view *body = data;

  if ((name.size && (name.bytes < body->bytes ||
                     name.bytes + name.size > body->bytes + body->size)) ||
      content.bytes < body->bytes ||
      content.bytes + content.size > body->bytes + body->size)
    abort();
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
  const size_t bytes = end ? (size_t)(end - data) : size;
  char *type = sp_mem_text(&sp_mem_default, (const char *)data, bytes);
  sp_view body =
      sp_view_of(end ? end + 1 : data + size, end ? size - bytes - 1 : 0);
  sp_refusal refusal;

  if (!type)
    return 0;
  sp_refusal_init(&refusal, &sp_mem_default);
  if (sp_multipart_files(type, body, visit, &body, &refusal) &&
      refusal.kind != SP_REFUSAL_BROKEN)
    abort();
  sp_refusal_dispose(&refusal);
  sp_mem_free(&sp_mem_default, type);
  return 0;
}
