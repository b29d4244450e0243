#include "hash_secret.h"

#include <sys/random.h>

#include "util/memory/hash.h"
#include "util/system/status.h"

uint64_t sp_hash_secret[2] = {UINT64_C(0xbb67ae8584caa73b),
                              UINT64_C(0x3c6ef372fe94f82b)};

spanprof_status sp_hash_secret_init(void) {
  uint64_t random[2];

  if (getrandom(random, sizeof random, 0) != sizeof random)
    return sp_fail(SPANPROF_ERR_SYSTEM,
                   "getrandom() gives no random numbers: %m");
  sp_hash_secret[0] = random[0];
  sp_hash_secret[1] = random[1];
  return SPANPROF_OK;
}
