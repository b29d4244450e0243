/* Decoding of base64: RFC 4648, 4 and 5. */
#ifndef SP_BASE64_H
#define SP_BASE64_H

#include "util/base.h"

typedef enum sp_base64_kind {
  SP_BASE64_STANDARD,
  SP_BASE64_EITHER /* digits of the standard and of the URL-safe alphabet */
} sp_base64_kind;

/* Capacity in bytes that sp_base64_read() needs for this number of characters.
 */
#define SP_BASE64_CAPACITY(characters) ((characters) / 4 * 3 + 2)

/* Decode the digits at the beginning of `text`. Returns the number of digits;
 * *bytes is the number of bytes written. The caller handles the text after the
 * digits, including padding. */
size_t sp_base64_read(const char *text, size_t size, sp_base64_kind kind,
                      char *out, size_t *bytes);

#endif
