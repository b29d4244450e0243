#include "hex.h"

void sp_hex_write(const void *bytes, size_t count, char *out) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *from = bytes;
  size_t i;

  for (i = 0; i < count; i++) {
    out[2 * i] = digits[from[i] >> 4];
    out[2 * i + 1] = digits[from[i] & 15];
  }
  out[2 * count] = '\0';
}
