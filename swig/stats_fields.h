/* The counters of spanprof_stats by name, in the header's order. */
#ifndef STATS_FIELDS_H
#define STATS_FIELDS_H

#include <spanprof/spanprof.h>

typedef struct stats_field {
  const char *name;
  size_t offset;
} stats_field;

#define STATS_FIELD(name) \
  { #name, offsetof(spanprof_stats, name) }

static const stats_field stats_fields[] = {
    STATS_FIELD(samples_taken),
    STATS_FIELD(ticks_taken),
    STATS_FIELD(samples_pending),
    STATS_FIELD(samples_exported),
    STATS_FIELD(ticks_exported),
    STATS_FIELD(samples_dropped_busy),
    STATS_FIELD(samples_dropped_full),
    STATS_FIELD(samples_dropped_blocked),
    STATS_FIELD(samples_dropped_memory),
    STATS_FIELD(samples_dropped_export),
    STATS_FIELD(samples_dropped_stop),
    STATS_FIELD(ticks_dropped),
    STATS_FIELD(ticks_booked_at_thread_end),
    STATS_FIELD(ticks_overrun),
    STATS_FIELD(stacks_truncated),
    STATS_FIELD(stacks_no_unwind_info),
    STATS_FIELD(stacks_foreign),
    STATS_FIELD(stacks_walk_cut),
    STATS_FIELD(frames_unnamed),
    STATS_FIELD(threads_seen),
    STATS_FIELD(threads_profiled),
    STATS_FIELD(threads_blocked),
    STATS_FIELD(threads_unprofiled),
    STATS_FIELD(signals_foreign),
    STATS_FIELD(signal_handler_lost),
    STATS_FIELD(labels_cleaned),
    STATS_FIELD(labels_capped),
    STATS_FIELD(labels_unbalanced),
    STATS_FIELD(spans_started),
    STATS_FIELD(spans_live),
    STATS_FIELD(spans_unbalanced),
    STATS_FIELD(span_names_cleaned),
    STATS_FIELD(span_names_capped),
    STATS_FIELD(profiles_made),
    STATS_FIELD(profiles_sent),
    STATS_FIELD(profiles_written),
    STATS_FIELD(profiles_retried),
    STATS_FIELD(profiles_dropped),
    STATS_FIELD(profiles_spooled),
    STATS_FIELD(profiles_removed),
    STATS_FIELD(bytes_sent),
    STATS_FIELD(bytes_written),
    STATS_FIELD(handler_ns),
    STATS_FIELD(collector_cpu_ns),
    STATS_FIELD(uploader_cpu_ns),
    STATS_FIELD(labels_refused),
    STATS_FIELD(spans_refused),
};

#undef STATS_FIELD
#define STATS_FIELDS (sizeof stats_fields / sizeof stats_fields[0])

/* Fails to compile where the header has a counter that is not listed: all are
 * of 8 bytes, beside them stand only struct_size and the histogram. */
_Static_assert(sizeof(spanprof_stats) ==
                   8 * (1 + STATS_FIELDS + SPANPROF_HANDLER_BUCKETS),
               "every counter is listed");

static inline uint64_t stats_value(const spanprof_stats *stats, size_t i) {
  return *(const uint64_t *)((const char *)stats + stats_fields[i].offset);
}

#endif
