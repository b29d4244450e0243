/* The hashes that a store contains must never change. */
#include "check.h"

#include <server/store/block/id_filter.h>
#include <server/store/block/stored_hash.h>

/* The first digest is the example in appendix A of the paper on SipHash: the
 * key 00 01 … 0f and the bytes 00 01 … 0e. The others are test vectors of the
 * reference implementation. */
static void digests_are_siphash_2_4(void) {
  const uint64_t k0 = UINT64_C(0x0706050403020100);
  const uint64_t k1 = UINT64_C(0x0f0e0d0c0b0a0908);
  unsigned char bytes[15];
  size_t i;

  for (i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)i;
  CHECK(sp_siphash(bytes, 15, k0, k1) == UINT64_C(0xa129ca6149be45e5));
  CHECK(sp_siphash(bytes, 0, k0, k1) == UINT64_C(0x726fdb47dd0e0e31));
  CHECK(sp_siphash(bytes, 8, k0, k1) == UINT64_C(0x93f5f5799a932462));
}

static void keys_of_filters_do_not_change(void) {
  CHECK(sp_stored_mix(SP_STORED_SEED, 0) == sp_id_span_key(0));
  CHECK(sp_id_span_key(UINT64_C(0x0123456789abcdef)) ==
        UINT64_C(0xb7767304511472aa));
  CHECK(sp_id_trace_key(1, 2) == UINT64_C(0xb286c2494b5f0bb4));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"digests_are_siphash_2_4", digests_are_siphash_2_4},
      {"keys_of_filters_do_not_change", keys_of_filters_do_not_change},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
