/* Bytes out of base64 text: RFC 4648, 4 and 5. */
#ifndef SP_BASE64_H
#define SP_BASE64_H

#include "util/base.h"

typedef enum sp_base64_kind {
  SP_BASE64_STANDARD,
  SP_BASE64_EITHER /* digits of the URL-safe alphabet, too */
} sp_base64_kind;

/* Bytes that `out` has room for, of so many characters. */
#define SP_BASE64_ROOM(characters) ((characters) / 4 * 3 + 2)

/* Write the bytes of the digits that `text` begins with, and their number.
 * Returns how many digits they are: what comes behind them, padding, too, is
 * the caller's. */
size_t sp_base64_read(const char *text, size_t size, sp_base64_kind kind,
                      char *out, size_t *bytes);

#endif
