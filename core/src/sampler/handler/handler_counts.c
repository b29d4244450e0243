#include "handler_counts.h"

/* The reason first: a stop that looks in between must not take the sample for
 * one that is under way, and count it too. */
SP_HANDLER_RARE void sp_handler_drop(sp_counter *reason, uint64_t ticks) {
  sp_count(reason, 1);
  sp_count(&sp_counts.ticks_dropped, ticks);
  sp_handler_count_sample(ticks);
}
