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

bool sp_hex_read(const char *text, size_t digits, uint64_t *out) {
  uint64_t number = 0;
  size_t i;

  for (i = 0; i < digits; i++) {
    const int digit = sp_hex_digit(text[i]);

    if (digit < 0)
      return false;
    number = number << 4 | (uint64_t)digit;
  }
  *out = number;
  return true;
}
