#include "collector_recordings.h"

#include <stdio.h>
#include <string.h>

#include "collector_state.h"

/* Maximum memory of all recordings together, as a multiple of window_max_bytes.
 */
#define RECORDINGS_WINDOWS 2

/* The mark that was assigned last. Process-wide, because a context may keep a
 * mark longer than the session of its recording exists. */
static _Atomic spanprof_mark recording_marks;

/* Give a recording its mark. The caller holds `request_lock`. So when the
 * collector finds a mark in a sample, the recordings of this mark and of all
 * lower marks are already requested. */
static void recording_mark(sp_selection *selection) {
  if (selection->scope != SPANPROF_RECORDING_CONTEXT &&
      selection->scope != SPANPROF_RECORDING_MARK)
    return;
  selection->mark = atomic_fetch_add(&recording_marks, 1) + 1;
  if (selection->outer >= selection->mark)
    selection->outer = 0;
}

spanprof_status sp_collector_record(sp_collector *collector,
                                    sp_recording *recording) {
  spanprof_status st = SPANPROF_OK;

  recording->begun_ns = sp_clock_monotonic_ns(collector->config.clock);
  recording->unix_ns = sp_clock_unix_ns(collector->config.clock);
  sp_recording_retain(recording);
  pthread_mutex_lock(&collector->request_lock);
  if (collector->recording_count == SP_RECORDINGS_MAX) {
    st = SPANPROF_ERR_LIMIT;
  } else {
    recording_mark(&recording->config.selection);
    recording->next = collector->recordings_requested;
    collector->recordings_requested = recording;
    collector->recording_count++;
  }
  pthread_mutex_unlock(&collector->request_lock);
  if (st)
    sp_recording_release(recording);
  else
    sp_wake_call(sp_ring_wake(collector->ring));
  return st;
}

void sp_collector_recording_stopped(sp_collector *collector) {
  sp_wake_call(sp_ring_wake(collector->ring));
}

static void recording_begin(sp_collector *collector, sp_recording *recording) {
  recording->st = sp_aggregator_open_sink(
      collector->aggregator, &recording->config.selection, &recording->sink);
  sp_recording_begun(recording);
}

void sp_collector_recordings_admit(sp_collector *collector) {
  sp_recording *recording, *next;

  pthread_mutex_lock(&collector->request_lock);
  next = collector->recordings_requested;
  collector->recordings_requested = NULL;
  pthread_mutex_unlock(&collector->request_lock);
  while ((recording = next)) {
    next = recording->next;
    recording->next = collector->recordings;
    collector->recordings = recording;
    if (recording->config.selection.mark)
      recording_begin(collector, recording);
  }
}

void sp_collector_recordings_before(sp_collector *collector) {
  sp_recording *recording;

  sp_collector_recordings_admit(collector);
  for (recording = collector->recordings; recording;
       recording = recording->next)
    recording->last_round = sp_recording_is_ending(recording);
}

static void others_begin(sp_collector *collector) {
  sp_recording *recording;

  for (recording = collector->recordings; recording;
       recording = recording->next) {
    if (recording->sink || recording->st)
      continue;
    recording->begun_ns = sp_clock_monotonic_ns(collector->config.clock);
    recording->unix_ns = sp_clock_unix_ns(collector->config.clock);
    recording_begin(collector, recording);
  }
}

/* Limit the memory of all recordings together. Beyond this limit, each new
 * stack of a recording is replaced by SP_NOTE_OVERFLOW, as beyond the limit of
 * a single recording. */
static void recordings_bound(sp_collector *collector) {
  const uint64_t most =
      RECORDINGS_WINDOWS * collector->config.settings->window_max_bytes;
  uint64_t bytes = 0;
  sp_recording *recording;

  for (recording = collector->recordings; recording;
       recording = recording->next)
    if (recording->sink)
      bytes += sp_profile_bytes(recording->sink->profile);
  for (recording = collector->recordings; recording;
       recording = recording->next)
    if (recording->sink)
      sp_profile_full_set(recording->sink->profile, bytes > most);
}

static void part_store(void *data, sp_encoded *part) {
  sp_encoded *out = data;

  *out = *part;
}

/* Write the note that describes how the profile differs from the request. */
static void note_write(const sp_collector *collector, sp_recording *recording,
                       bool early) {
  const sp_recording_config *requested = &recording->config;
  const uint32_t rate_hz = (uint32_t)collector->config.settings->sample_rate_hz;
  const int64_t available = collector->config.settings->native_frames;
  char rate[64] = "";
  const char *native = requested->native_frames > available
                           ? ", with fewer native frames, like the session"
                           : "";

  if (requested->rate_hz && requested->rate_hz != rate_hz)
    snprintf(rate, sizeof rate, ", at the session's %u Hz, not at %u Hz",
             rate_hz, requested->rate_hz);
  snprintf(recording->note, sizeof recording->note, "%s%s%s",
           early ? ", ended early because the sampling was stopped" : "", rate,
           native);
  if (recording->note[0])
    memmove(recording->note, recording->note + 2,
            strlen(recording->note + 2) + 1);
}

static spanprof_status recording_encode(sp_collector *collector,
                                        sp_recording *recording,
                                        sp_encoded *out) {
  uint64_t lost_samples, lost_ticks;
  sp_window window = {.time_ns = recording->unix_ns, .whole = true};

  if (recording->sink->st)
    return recording->sink->st;
  window.duration_ns =
      sp_clock_monotonic_ns(collector->config.clock) - recording->begun_ns;
  return sp_collector_encode(collector, recording->sink->profile, &window,
                             recording->note, part_store, out, &lost_samples,
                             &lost_ticks);
}

/* Encode the profile of a recording that was removed from the list and receives
 * no more samples, and mark the recording as done. */
static void recording_finish(sp_collector *collector, sp_recording *recording) {
  spanprof_status st = recording->st;
  sp_encoded profile = {0};

  if (!st && (!sp_recording_is_referenced(recording) ||
              atomic_load(&collector->abandoned)))
    st = SPANPROF_ERR_STATE;
  if (!st)
    st = recording_encode(collector, recording, &profile);
  sp_sink_free(recording->sink);
  recording->sink = NULL;
  pthread_mutex_lock(&collector->request_lock);
  collector->recording_count--;
  pthread_mutex_unlock(&collector->request_lock);
  sp_recording_end(recording, st, &profile);
  sp_recording_release(recording);
}

/* Return the time at which the recording's duration ends. */
static uint64_t recording_until(const sp_recording *recording) {
  const uint64_t left_ns = UINT64_MAX - recording->begun_ns;

  return recording->begun_ns +
         sp_min_u64(recording->config.duration_ns, left_ns);
}

/* Remove the ended recordings, or all recordings, from the list, close their
 * sinks, and return the removed ones. *first_ns is set to the earliest end of a
 * remaining recording. */
static sp_recording *recordings_remove_ended(sp_collector *collector, bool all,
                                             uint64_t *first_ns) {
  sp_recording **at = &collector->recordings, *recording, *ended = NULL;
  const uint64_t now_ns = sp_clock_monotonic_ns(collector->config.clock);

  *first_ns = UINT64_MAX;
  while ((recording = *at)) {
    const uint64_t until_ns = recording_until(recording);
    const bool over = recording->last_round || now_ns >= until_ns;

    if (!over && !all) {
      *first_ns = sp_min_u64(*first_ns, until_ns);
      at = &recording->next;
      continue;
    }
    *at = recording->next;
    recording->next = ended;
    ended = recording;
    note_write(collector, recording, !over);
    if (recording->sink)
      sp_aggregator_close_sink(collector->aggregator, recording->sink);
  }
  return ended;
}

static uint64_t recordings_end(sp_collector *collector, bool all) {
  uint64_t first_ns;
  sp_recording *ended = recordings_remove_ended(collector, all, &first_ns),
               *next;

  if (ended)
    sp_collector_wait_for_names(collector);
  for (; ended; ended = next) {
    next = ended->next;
    recording_finish(collector, ended);
  }
  return first_ns;
}

uint64_t sp_collector_recordings_after(sp_collector *collector) {
  if (!collector->recordings)
    return UINT64_MAX;
  others_begin(collector);
  recordings_bound(collector);
  return recordings_end(collector, false);
}

void sp_collector_recordings_end(sp_collector *collector) {
  sp_collector_recordings_before(collector);
  others_begin(collector);
  recordings_end(collector, true);
}

void sp_collector_recordings_drop(sp_collector *collector) {
  /* Another thread of the parent may have held the locks of recordings at the
   * fork, so recordings are not touched. They are never freed. */
  if (collector->fork_between_steps)
    sp_aggregator_close_sinks(collector->aggregator);
  collector->recordings = collector->recordings_requested = NULL;
  collector->recording_count = 0;
}
