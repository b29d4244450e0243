#include "stored_hash.h"

#include <endian.h>
#include <string.h>

/* Number of SipHash rounds: BEFORE for each word, AFTER at the end. */
#define SIP_BEFORE 2
#define SIP_AFTER  4

static uint64_t sip_rotate(uint64_t word, int bits) {
  return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count) {
  for (; count; count--) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = sip_rotate(v[1], 13) ^ v[0];
    v[3] = sip_rotate(v[3], 16) ^ v[2];
    v[0] = sip_rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = sip_rotate(v[3], 21) ^ v[0];
    v[1] = sip_rotate(v[1], 17) ^ v[2];
    v[2] = sip_rotate(v[2], 32);
  }
}

static void sip_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  sip_rounds(v, SIP_BEFORE);
  v[0] ^= word;
}

uint64_t sp_siphash(const void *bytes, size_t size, uint64_t k0, uint64_t k1) {
  uint64_t v[4] = {
      k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
      k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
  const unsigned char *p = bytes;
  uint64_t word;
  size_t left;

  for (left = size; left >= sizeof word; left -= sizeof word) {
    memcpy(&word, p, sizeof word);
    sip_word(v, le64toh(word));
    p += sizeof word;
  }
  word = 0;
  memcpy(&word, p, left);
  sip_word(v, le64toh(word) | (uint64_t)size << 56);
  v[2] ^= 0xff;
  sip_rounds(v, SIP_AFTER);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
