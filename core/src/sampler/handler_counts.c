#include "handler_counts.h"

/* The reason first: a stop that looks in between must not take the sample for
 * one that is under way, and count it too. */
SP_HANDLER_SELDOM void sp_handler_drop(sp_counter *reason, uint64_t ticks) {
  sp_count(reason, 1);
  sp_count(&sp_counts.ticks_dropped, ticks);
  sp_handler_count_sample(ticks);
}

SP_HANDLER_SELDOM void sp_handler_drop_by_ring(sp_ring_result result,
                                               uint64_t ticks) {
  sp_handler_drop(result == SP_RING_BUSY ? &sp_counts.samples_dropped_busy
                                         : &sp_counts.samples_dropped_full,
                  ticks);
}
