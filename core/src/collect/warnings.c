#include "warnings.h"

#include "label/label_node.h"
#include "label/span_record.h"
#include "sampler/handler/signal.h"
#include "util/system/counters.h"

static void drops_log(sp_warnings *warnings, sp_log *log) {
  uint64_t dropped = sp_counted(&sp_counts.samples_dropped_full) +
                     sp_counted(&sp_counts.samples_dropped_memory);

  if (dropped > warnings->dropped_seen)
    sp_log_warn(log, SP_LOG_SAMPLES,
                "%llu samples were lost: the buffer for new samples was full "
                "(a lower sample_rate_hz helps), or there was no memory",
                (unsigned long long)(dropped - warnings->dropped_seen));
  warnings->dropped_seen = dropped;
}

/* Return by how much the counter has grown above *seen, and update *seen. */
static uint64_t count_grown(const sp_counter *counter, uint64_t *seen) {
  uint64_t before = *seen;

  *seen = sp_counted(counter);
  return *seen - before;
}

static void refusals_log(sp_warnings *warnings, sp_log *log) {
  uint64_t labels =
      count_grown(&sp_counts.labels_refused, &warnings->labels_refused_seen);
  uint64_t spans =
      count_grown(&sp_counts.spans_refused, &warnings->spans_refused_seen);

  if (labels > 0)
    sp_log_warn(
        log, SP_LOG_LABELS,
        "%llu labels were refused: a process can have at most %u distinct sets "
        "of labels, %u labels in a set, and %u MiB of label texts",
        (unsigned long long)labels, SP_LABEL_NODES - 1, SP_LABEL_DEPTH_MAX,
        (unsigned)(SP_TEXT_BYTES_MAX >> 20));
  if (spans > 0)
    sp_log_warn(log, SP_LOG_SPANS,
                "%llu spans were refused: %u spans are open (does the program "
                "end all spans?), or there is no memory",
                (unsigned long long)spans, SP_SPANS_MAX);
}

static void signal_log(sp_warnings *warnings, sp_log *log, int signal_number) {
  bool lost = !sp_signal_owned(signal_number);

  if (lost && !warnings->signal_lost)
    sp_log_warn(log, SP_LOG_SIGNAL,
                "other code has installed a handler for signal %d: spanprof "
                "gets samples only if that handler calls the previous one; "
                "otherwise set the option signal_number to another signal",
                signal_number);
  warnings->signal_lost = lost;
}

void sp_warnings_log(sp_warnings *warnings, sp_log *log, int signal_number) {
  drops_log(warnings, log);
  refusals_log(warnings, log);
  signal_log(warnings, log, signal_number);
}

void sp_warnings_log_window(const sp_profile *profile, sp_log *log) {
  sp_profile_notes notes = sp_profile_notes_get(profile);

  if (notes.overflow_samples > 0)
    sp_log_warn(log, SP_LOG_MEMORY,
                "%llu samples lost their stacks: the profile has too many "
                "distinct stacks; a larger window_max_bytes or a shorter "
                "upload_interval_ms helps",
                (unsigned long long)notes.overflow_samples);
  if (notes.labels_capped > 0)
    sp_log_warn(
        log, SP_LOG_LABELS,
        "%llu samples lost labels: the server accepts at most 30 label names",
        (unsigned long long)notes.labels_capped);
}
