#include "module_name.h"

#include <string.h>

#include "util/text/utf8.h"

static const char module_unknown[] = "[unknown]";

size_t sp_module_name(const char *file, size_t size,
                      char out[SP_MODULE_NAME_BYTES]) {
  size_t start = size, length = 0;
  bool changed, bare;

  while (start > 0 && file[start - 1] != '/')
    start--;
  if (start == size) {
    memcpy(out, module_unknown, sizeof module_unknown);
    return sizeof module_unknown - 1;
  }
  bare = file[start] != '[';
  if (bare)
    out[length++] = '[';
  length += sp_utf8_clean(file + start, size - start, out + length,
                          SP_MODULE_NAME_BYTES - 3, &changed);
  if (bare)
    out[length++] = ']';
  out[length] = '\0';
  return length;
}
