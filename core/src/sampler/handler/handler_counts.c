#include "handler_counts.h"

/* Count the reason before the sample. Otherwise a stop that reads the counters
 * in between would count the sample as pending, and drop it again. */
SP_HANDLER_RARE void sp_handler_drop(sp_counter *reason, uint64_t ticks) {
  sp_count(reason, 1);
  sp_count(&sp_counts.ticks_dropped, ticks);
  sp_handler_count_sample(ticks);
}
