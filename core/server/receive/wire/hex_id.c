#include "hex_id.h"

#include "util/text/hex.h"

#define HEX_SPAN_DIGITS  16
#define HEX_TRACE_DIGITS 32

bool sp_hex_span_id(sp_view digits, uint64_t *out) {
  return digits.size == HEX_SPAN_DIGITS &&
         sp_hex_read(digits.bytes, HEX_SPAN_DIGITS, out);
}

bool sp_hex_trace_id(sp_view digits, uint64_t *hi, uint64_t *lo) {
  uint64_t high, low;

  if (digits.size != HEX_TRACE_DIGITS ||
      !sp_hex_read(digits.bytes, HEX_SPAN_DIGITS, &high) ||
      !sp_hex_read(digits.bytes + HEX_SPAN_DIGITS, HEX_SPAN_DIGITS, &low))
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
