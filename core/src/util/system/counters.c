#include "counters.h"

#include <string.h>

#include "status.h"

/* spanprof_stats also has struct_size and samples_pending. */
_Static_assert(sizeof(spanprof_stats) ==
                   sizeof(sp_counters) + sizeof(size_t) + sizeof(uint64_t),
               "every counter of the public header is in SP_COUNTERS");

SP_HANDLER_DATA _Alignas(SP_CACHE_LINE) sp_counters sp_counts;

static void counter_clear(sp_counter *counter) {
  atomic_store_explicit(counter, 0, memory_order_relaxed);
}

void sp_counters_reset(void) {
  size_t i;

#define COUNTER_CLEAR(name) counter_clear(&sp_counts.name);
  SP_COUNTERS_OF_EVENTS(COUNTER_CLEAR)
#undef COUNTER_CLEAR
  for (i = 0; i < SPANPROF_HANDLER_BUCKETS; i++)
    counter_clear(&sp_counts.handler_histogram[i]);
}

void sp_counters_read(spanprof_stats *out) {
  uint64_t accounted;
  size_t i;

#define COUNTER_READ(name) out->name = sp_counted(&sp_counts.name);
  SP_COUNTERS(COUNTER_READ)
#undef COUNTER_READ
  for (i = 0; i < SPANPROF_HANDLER_BUCKETS; i++)
    out->handler_histogram[i] = sp_counted(&sp_counts.handler_histogram[i]);
  accounted = out->samples_exported;
#define COUNTER_ACCOUNTED(name) accounted += out->name;
  SP_COUNTERS_OF_DROPS(COUNTER_ACCOUNTED)
#undef COUNTER_ACCOUNTED
  /* The counters are read one by one, and a sample may be exported or dropped
   * between two reads, so `accounted` may exceed samples_taken. */
  out->samples_pending =
      out->samples_taken > accounted ? out->samples_taken - accounted : 0;
}

void sp_counters_drop_pending(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};
  uint64_t accounted;

  sp_counters_read(&stats);
  sp_count(&sp_counts.samples_dropped_stop, stats.samples_pending);
  accounted = stats.ticks_exported + stats.ticks_dropped;
  if (stats.ticks_taken > accounted)
    sp_count(&sp_counts.ticks_dropped, stats.ticks_taken - accounted);
}

spanprof_status spanprof_stats_get(spanprof_stats *out) {
  size_t known = out->struct_size;
  spanprof_stats stats;

  if (known < sizeof known || known > sizeof stats)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "spanprof_stats.struct_size is wrong: set it to "
                   "sizeof(spanprof_stats)");
  sp_counters_read(&stats);
  stats.struct_size = known;
  memcpy(out, &stats, known);
  return SPANPROF_OK;
}
