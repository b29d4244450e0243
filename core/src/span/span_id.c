#include "span_id.h"

#include <sys/random.h>
#include <unistd.h>

#include "util/memory/hash.h"
#include "util/system/clock.h"

/* Process-wide, because ids must not repeat between threads. Each id is a
 * counter's value, mapped by the one-to-one finalizer of splitmix64 (Steele,
 * Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
 * The counter starts at a random number. */
static struct {
  _Atomic uint64_t count;
  _Atomic bool seeded;
} span_ids;

static void id_seed(void) {
  uint64_t seed;

  /* Early at boot the kernel may have no entropy yet. Do not wait for it, but
   * use the time and the process id. */
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
    seed = sp_hash_mix(sp_monotonic_ns(), (uint64_t)getpid());
  /* If two threads do this at the same time, both seeds are added, which is
   * harmless. */
  atomic_fetch_add_explicit(&span_ids.count, seed, memory_order_relaxed);
  atomic_store_explicit(&span_ids.seeded, true, memory_order_release);
}

uint64_t sp_span_id_next(void) {
  uint64_t id;

  if (SP_UNLIKELY(
          !atomic_load_explicit(&span_ids.seeded, memory_order_acquire)))
    id_seed();
  do {
    id = atomic_fetch_add_explicit(&span_ids.count, SP_HASH_SEED,
                                   memory_order_relaxed) +
         SP_HASH_SEED;
    id = (id ^ (id >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    id = (id ^ (id >> 27)) * UINT64_C(0x94d049bb133111eb);
    id ^= id >> 31;
  } while (id == 0);
  return id;
}

void sp_span_id_forked(void) {
  atomic_store_explicit(&span_ids.seeded, false, memory_order_release);
}
