/* Protobuf's variable-length numbers, seven bits per byte:
 * https://protobuf.dev/programming-guides/encoding/. */
#ifndef SP_VARINT_H
#define SP_VARINT_H

#include "util/memory/buffer.h"

#define SP_VARINT_BYTES_MAX 10 /* maximum for a number of 64 bits */

/* The number of bytes that `number` needs: a seventh of its bits, rounded up,
 * computed without a division. */
static inline size_t sp_varint_size(uint64_t number) {
  const uint32_t top = 63u - (uint32_t)__builtin_clzll(number | 1);

  return (top * 9 + 73) / 64;
}

typedef enum sp_varint_result {
  SP_VARINT_WHOLE,
  SP_VARINT_CUT, /* the last byte of the number is missing */
  SP_VARINT_LONG /* the number has more than 64 bits */
} sp_varint_result;

/* Read the number at *p and advance *p. Nearly all numbers have one byte. */
static inline sp_varint_result
sp_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *out) {
  const uint8_t *at = *p;
  uint32_t shift;

  *out = 0;
  for (shift = 0; shift < 7 * SP_VARINT_BYTES_MAX; shift += 7) {
    if (at == end)
      return SP_VARINT_CUT;
    *out |= (uint64_t)(*at & 0x7f) << shift;
    if (!(*at++ & 0x80)) {
      *p = at;
      return SP_VARINT_WHOLE;
    }
  }
  return SP_VARINT_LONG;
}

/* Write a number at `p` and return the end of its bytes. */
static inline uint8_t *sp_varint_put(uint8_t *p, uint64_t number) {
  while (number >= 0x80) {
    *p++ = (uint8_t)(number | 0x80);
    number >>= 7;
  }
  *p++ = (uint8_t)number;
  return p;
}

static inline void sp_varint_append(sp_buffer *out, uint64_t number) {
  uint8_t bytes[SP_VARINT_BYTES_MAX];

  sp_buffer_append(out, bytes, (size_t)(sp_varint_put(bytes, number) - bytes));
}

#endif
