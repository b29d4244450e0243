/* Hash functions for short keys of in-memory tables. Hashes are never stored or
 * sent. */
#ifndef SP_HASH_H
#define SP_HASH_H

#include <string.h>

#include "util/base.h"

/* Odd constants with evenly spread bits: the fractional parts of the golden
 * ratio and of the square roots of 2, 3 and 5. SP_HASH_MIX and SP_HASH_MIX2 are
 * for sp_hash_mix() alone: an argument that equals its constant makes the
 * product 0. */
#define SP_HASH_SEED  UINT64_C(0x9e3779b97f4a7c15)
#define SP_HASH_SEED2 UINT64_C(0x6a09e667f3bcc909)

/* Clients choose the keys of the server's tables. Therefore the server is built
 * with SP_HASH_SECRET, which replaces the constants by secret ones, so that
 * clients cannot choose colliding keys (server/model/hash_secret.h). */
#ifdef SP_HASH_SECRET
extern uint64_t sp_hash_secret[2];
#define SP_HASH_MIX  sp_hash_secret[0]
#define SP_HASH_MIX2 sp_hash_secret[1]
#else
#define SP_HASH_MIX  UINT64_C(0xbb67ae8584caa73b)
#define SP_HASH_MIX2 UINT64_C(0x3c6ef372fe94f82b)
#endif

/* Mix `value` into `hash`, with one 64x64->128 multiplication. */
SP_SIGNAL_SAFE static inline uint64_t sp_hash_mix(uint64_t hash,
                                                  uint64_t value) {
  unsigned __int128 product = (unsigned __int128)(hash ^ SP_HASH_MIX) *
                              (unsigned __int128)(value ^ SP_HASH_MIX2);

  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

SP_SIGNAL_SAFE static inline uint64_t sp_hash_bytes(const void *bytes,
                                                    size_t size) {
  const unsigned char *p = bytes;
  uint64_t hash = SP_HASH_SEED ^ size;
  uint64_t word = 0;
  size_t left = size;

  for (; left >= 8; left -= 8, p += 8) {
    memcpy(&word, p, 8);
    hash = sp_hash_mix(hash, word);
  }
  word = 0;
  memcpy(&word, p, left);
  return sp_hash_mix(hash, word + (uint64_t)left);
}

#endif
