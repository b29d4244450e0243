#include "base64.h"

/* Returns the value of a digit, or -1 for other characters. */
static int base64_digit(char c, sp_base64_kind kind) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  if (c == '+' || (c == '-' && kind == SP_BASE64_EITHER))
    return 62;
  return c == '/' || (c == '_' && kind == SP_BASE64_EITHER) ? 63 : -1;
}

size_t sp_base64_read(const char *text, size_t size, sp_base64_kind kind,
                      char *out, size_t *bytes) {
  uint32_t bits = 0, bit_count = 0;
  int digit;
  size_t i;

  *bytes = 0;
  for (i = 0; i < size && (digit = base64_digit(text[i], kind)) >= 0; i++) {
    bits = bits << 6 | (uint32_t)digit;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      out[(*bytes)++] = (char)(bits >> bit_count);
    }
  }
  return i;
}
