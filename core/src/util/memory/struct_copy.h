/* Structures of callers, which may have been compiled against another version
 * (core/docs/abi.md). */
#ifndef SP_STRUCT_COPY_H
#define SP_STRUCT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copy what a caller knows of a structure of `size` bytes that begins with its
 * struct_size; the rest of `out` stays as it is, and so does all of it where
 * the answer is false: the caller's is larger, or ends before `least` bytes. */
static inline bool sp_struct_copy(void *out, size_t size, const void *given,
                                  size_t least) {
  size_t known;

  memcpy(&known, given, sizeof known);
  if (known < least || known > size)
    return false;
  memcpy(out, given, known);
  return true;
}

/* The size of a structure of `type` that ends with `field`. */
#define SP_STRUCT_UP_TO(type, field) \
  (offsetof(type, field) + sizeof(((type *)0)->field))

#endif
