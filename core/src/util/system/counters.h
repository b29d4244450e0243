/* Event counters, the source of spanprof_stats. They are process-wide, because
 * labels and spans are used with and without a session. */
#ifndef SP_COUNTERS_H
#define SP_COUNTERS_H

#include "util/base.h"

/* Every counter has the name and the meaning of its spanprof_stats field. The
 * first three change with every sample, so they share a cache line. */
#define SP_COUNTERS(X)     \
  SP_COUNTERS_OF_EVENTS(X) \
  SP_COUNTERS_OF_STATES(X)

/* Counters of present objects, such as live spans, which increase and
 * decrease. */
#define SP_COUNTERS_OF_STATES(X) \
  X(threads_profiled)            \
  X(spans_live)

/* Reasons why a sample that was taken is not exported. Samples that are neither
 * exported nor dropped are samples_pending. */
#define SP_COUNTERS_OF_DROPS(X) \
  X(samples_dropped_full)       \
  X(samples_dropped_memory)     \
  X(samples_dropped_export)     \
  X(samples_dropped_stop)

#define SP_COUNTERS_OF_EVENTS(X) \
  X(samples_taken)               \
  X(ticks_taken)                 \
  X(handler_ns)                  \
  X(samples_exported)            \
  X(ticks_exported)              \
  SP_COUNTERS_OF_DROPS(X)        \
  X(ticks_dropped)               \
  X(ticks_booked_at_thread_end)  \
  X(ticks_overrun)               \
  X(stacks_truncated)            \
  X(stacks_no_unwind_info)       \
  X(stacks_foreign)              \
  X(stacks_walk_cut)             \
  X(frames_unnamed)              \
  X(threads_seen)                \
  X(threads_blocked)             \
  X(threads_unprofiled)          \
  X(signals_foreign)             \
  X(signal_handler_lost)         \
  X(labels_cleaned)              \
  X(labels_capped)               \
  X(labels_unbalanced)           \
  X(spans_started)               \
  X(spans_unbalanced)            \
  X(span_names_cleaned)          \
  X(span_names_capped)           \
  X(profiles_made)               \
  X(profiles_sent)               \
  X(profiles_written)            \
  X(profiles_retried)            \
  X(profiles_dropped)            \
  X(profiles_spooled)            \
  X(profiles_removed)            \
  X(bytes_sent)                  \
  X(bytes_written)               \
  X(collector_cpu_ns)            \
  X(uploader_cpu_ns)             \
  X(labels_refused)              \
  X(spans_refused)

typedef struct sp_counters {
#define SP_COUNTER_FIELD(name) sp_counter name;
  SP_COUNTERS(SP_COUNTER_FIELD)
#undef SP_COUNTER_FIELD
  sp_counter handler_histogram[SPANPROF_HANDLER_BUCKETS];
} sp_counters;

extern sp_counters sp_counts;

/* Set all counters of events to zero. SP_COUNTERS_OF_STATES keep their
 * values. */
void sp_counters_reset(void);

/* Read all counters. samples_pending is computed: samples taken - exported -
 * dropped. */
void sp_counters_read(spanprof_stats *out);

/* Called after a stop: count as dropped all samples that are neither exported
 * nor dropped. They were lost in a handler that was preempted for longer than
 * the stop waited. */
void sp_counters_drop_pending(void);

#endif
