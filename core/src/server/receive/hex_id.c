#include "hex_id.h"

#define HEX_SPAN_DIGITS  16
#define HEX_TRACE_DIGITS 32

static bool hex_digit(char c, uint64_t *out) {
  if (c >= '0' && c <= '9')
    *out = (uint64_t)(c - '0');
  else if (c >= 'a' && c <= 'f')
    *out = (uint64_t)(c - 'a' + 10);
  else if (c >= 'A' && c <= 'F')
    *out = (uint64_t)(c - 'A' + 10);
  else
    return false;
  return true;
}

static bool hex_word(const char *digits, uint64_t *out) {
  uint64_t word = 0, digit;
  size_t i;

  for (i = 0; i < HEX_SPAN_DIGITS; i++) {
    if (!hex_digit(digits[i], &digit))
      return false;
    word = word << 4 | digit;
  }
  *out = word;
  return true;
}

bool sp_hex_span_id(sp_view digits, uint64_t *out) {
  return digits.size == HEX_SPAN_DIGITS && hex_word(digits.bytes, out);
}

bool sp_hex_trace_id(sp_view digits, uint64_t *hi, uint64_t *lo) {
  uint64_t high, low;

  if (digits.size != HEX_TRACE_DIGITS || !hex_word(digits.bytes, &high) ||
      !hex_word(digits.bytes + HEX_SPAN_DIGITS, &low))
    return false;
  *hi = high;
  *lo = low;
  return true;
}

uint64_t sp_hex_from_bytes(const char *bytes) {
  uint64_t word = 0;
  size_t i;

  for (i = 0; i < 8; i++)
    word = word << 8 | (uint8_t)bytes[i];
  return word;
}
