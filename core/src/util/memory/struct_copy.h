/* Copies structures of callers that may have been compiled against another
 * version of the library (core/docs/abi.md). */
#ifndef SP_STRUCT_COPY_H
#define SP_STRUCT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copy the caller's structure, which begins with its struct_size, to `out`,
 * which has `size` bytes. Fields of `out` beyond struct_size keep their values.
 * Returns false and leaves `out` unchanged if the caller's structure is larger
 * than `size` or smaller than `least` bytes. */
static inline bool sp_struct_copy(void *out, size_t size, const void *given,
                                  size_t least) {
  size_t known;

  memcpy(&known, given, sizeof known);
  if (known < least || known > size)
    return false;
  memcpy(out, given, known);
  return true;
}

/* The size of a structure of `type` whose last field is `field`. */
#define SP_STRUCT_UP_TO(type, field) \
  (offsetof(type, field) + sizeof(((type *)0)->field))

#endif
