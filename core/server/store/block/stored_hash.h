/* Hashes that are stored in the file or sent to clients. Later versions must
 * compute the same hashes, and so must every machine. */
#ifndef SP_STORED_HASH_H
#define SP_STORED_HASH_H

#include "util/base.h"

#define SP_STORED_SEED  UINT64_C(0x9e3779b97f4a7c15)
#define SP_STORED_SEED2 UINT64_C(0x6a09e667f3bcc909)

/* Returns the 64-bit SipHash-2-4 of the bytes with the key (k0, k1), whose
 * halves are read as little-endian:
 * https://www.aumasson.jp/siphash/siphash.pdf. The store uses the key (0, 0).
 */
uint64_t sp_siphash(const void *bytes, size_t size, uint64_t k0, uint64_t k1);

/* Mix a number into a hash: XOR both halves of a 64x64->128 multiplication. */
static inline uint64_t sp_stored_mix(uint64_t hash, uint64_t value) {
  const unsigned __int128 product =
      (unsigned __int128)(hash ^ UINT64_C(0xbb67ae8584caa73b)) *
      (unsigned __int128)(value ^ UINT64_C(0x3c6ef372fe94f82b));

  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
