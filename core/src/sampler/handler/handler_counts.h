/* Counts the handler's samples. */
#ifndef SP_HANDLER_COUNTS_H
#define SP_HANDLER_COUNTS_H

#include "util/system/counters.h"

SP_HANDLER_CODE static inline void sp_handler_count_sample(uint64_t ticks) {
  sp_count(&sp_counts.samples_taken, 1);
  sp_count(&sp_counts.ticks_taken, ticks);
}

SP_HANDLER_CODE static inline void sp_handler_count_time(uint64_t ns) {
  uint64_t units = ns >> 7;
  unsigned bucket = units ? 63u - (unsigned)__builtin_clzll(units) : 0;

  if (bucket >= SPANPROF_HANDLER_BUCKETS)
    bucket = SPANPROF_HANDLER_BUCKETS - 1;
  sp_count(&sp_counts.handler_histogram[bucket], 1);
  sp_count(&sp_counts.handler_ns, ns);
}

/* Count a dropped sample and its ticks. `reason` is one of the counters
 * samples_dropped_*. */
SP_HANDLER_RARE void sp_handler_drop(sp_counter *reason, uint64_t ticks);

#endif
