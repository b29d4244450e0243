#include "drain_pace.h"

/* A full core at 100 Hz writes some 8 KB a sample under a language: 120 KB in
 * 150 ms, half a shard. Timers that are faster may fill the ring
 * before the first round that could tell. */
#define PACE_MOST_NS  (150 * SP_NS_PER_MS)
#define PACE_FIRST_NS (100 * SP_NS_PER_MS)
#define PACE_LEAST_NS (10 * SP_NS_PER_MS)
#define PACE_SAMPLES  15u

#define PACE_FILL_WANTED 50u /* percent */
#define PACE_FILL_MOST   75u

uint64_t sp_drain_pace_ns(uint64_t interval_ns, unsigned fill_percent,
                          uint64_t since_ns) {
  uint64_t ns = sp_max_u64(PACE_SAMPLES * interval_ns, PACE_FIRST_NS);

  ns = sp_min_u64(ns, PACE_MOST_NS);
  if (fill_percent >= PACE_FILL_MOST)
    return PACE_LEAST_NS;
  if (fill_percent > 0)
    ns = sp_min_u64(ns, since_ns * PACE_FILL_WANTED / fill_percent);
  return sp_max_u64(ns, PACE_LEAST_NS);
}
