/* Numbers as protobuf writes them, seven bits a byte:
 * https://protobuf.dev/programming-guides/encoding/. */
#ifndef SP_VARINT_H
#define SP_VARINT_H

#include "util/base.h"

#define SP_VARINT_BYTES_MAX 10 /* of 64 bits */

/* How many bytes: a seventh of the bits, rounded up, without dividing. */
static inline size_t sp_varint_size(uint64_t number) {
  const uint32_t top = 63u - (uint32_t)__builtin_clzll(number | 1);

  return (top * 9 + 73) / 64;
}

/* Returns what stands behind the number. */
static inline uint8_t *sp_varint_put(uint8_t *p, uint64_t number) {
  while (number >= 0x80) {
    *p++ = (uint8_t)(number | 0x80);
    number >>= 7;
  }
  *p++ = (uint8_t)number;
  return p;
}

#endif
