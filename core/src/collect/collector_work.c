#include "collector_work.h"

#include <time.h>

#include "collect/samples/runtime_names.h"
#include "collector_recordings.h"
#include "comments.h"
#include "last_thread.h"
#include "sampler/thread_scan.h"
#include "span/span.h"
#include "util/system/counters.h"

/* How long the collector sleeps where nobody calls it: names are asked for
 * while what they name is there. */
#define WORK_ROUND_NS (150 * SP_NS_PER_MS)

/* 5,000 threads are found within 1 s. */
#define WORK_SCAN_MAX_NS        (800 * SP_NS_PER_MS)
#define WORK_SCAN_PER_THREAD_NS (750 * UINT64_C(1000))

#define WORK_CHORES_NS SP_NS_PER_S

/* With eight threads that want the GVL and give it up every 100 ms, the one
 * that names frames comes to its turn within a second. At a stop nobody waits.
 */
#define WORK_NAMES_WAIT_NS      (2 * SP_NS_PER_S)
#define WORK_NAMES_WAIT_STOP_NS (200 * SP_NS_PER_MS)
#define WORK_NAMES_PAUSE_NS     (5 * SP_NS_PER_MS)

_Static_assert(sizeof(sp_sample) + SP_SLICE_BYTES_MAX +
                       SP_WALK_FRAMES_MAX * sizeof(spanprof_frame) <=
                   SP_RING_SHARD_BYTES / 16,
               "a shard has room for many of the largest samples");

/* A profile's identity on the server is its series and its time. Times follow
 * the clock, also back; for no time to come again they keep to one remainder of
 * the step, the first window's, and take another each time the clock was set
 * back. */
static uint64_t time_choose(const sp_collector *collector) {
  const uint64_t step = SP_PROFILE_TIME_STEP_NS;
  uint64_t now_ns = sp_clock_unix_ns(collector->config.clock);
  uint64_t last_ns = collector->last_time_ns, at_least_ns = now_ns;

  if (last_ns == 0)
    return now_ns;
  if (now_ns + SP_NS_PER_MS < last_ns)
    last_ns++;
  else
    at_least_ns = sp_max_u64(now_ns, last_ns + 1);
  return at_least_ns + (last_ns - at_least_ns) % step;
}

void sp_collector_window_begin(sp_collector *collector) {
  collector->window_ns = sp_clock_monotonic_ns(collector->config.clock);
  collector->window_unix_ns = time_choose(collector);
  collector->last_time_ns = collector->window_unix_ns;
}

/* A sample with a higher mark than before may belong to a recording that was
 * requested since the last look. */
static void sample_fold(sp_collector *collector, const sp_sample *sample) {
  if (SP_UNLIKELY(sample->mark > collector->newest_mark)) {
    sp_collector_recordings_admit(collector);
    collector->newest_mark = sample->mark;
  }
  sp_fold_sample(collector->fold, sample);
}

/* At most a shard's size of each shard: handlers that write faster than they
 * are read must not keep the collector from its other work. Without handlers
 * that is everything. */
static void ring_drain(sp_collector *collector) {
  const size_t most = 2 * sp_ring_payload_max(collector->ring);
  unsigned shard = 0, reading = 0;
  size_t bytes, left = most;
  const void *payload;

  sp_fold_scan(collector->fold);
  while (!atomic_load(&collector->left) &&
         (payload = sp_ring_next(collector->ring, &shard, &bytes))) {
    if (shard != reading)
      left = most;
    reading = shard;
    sample_fold(collector, payload);
    sp_ring_release(collector->ring, shard);
    if (bytes >= left)
      shard++;
    else
      left -= bytes;
  }
}

/* Where the runtime answers from a thread of its own; what is sampled meanwhile
 * is still of the window. */
void sp_collector_names_wait(sp_collector *collector) {
  uint64_t begun_ns = sp_monotonic_ns(), wait_ns;
  struct timespec pause = {.tv_nsec = (long)WORK_NAMES_PAUSE_NS};

  do {
    ring_drain(collector);
    if (sp_fold_name_frames(collector->fold) == 0)
      return;
    sp_runtime_names_request();
    pthread_mutex_unlock(&collector->work_lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&collector->work_lock);
    wait_ns =
        collector->stopping ? WORK_NAMES_WAIT_STOP_NS : WORK_NAMES_WAIT_NS;
  } while (sp_monotonic_ns() - begun_ns < wait_ns &&
           !atomic_load(&collector->left));
}

static void part_emit(void *data, sp_encoded *part) {
  sp_collector *collector = data;
  bool emitting;

  collector->last_time_ns = part->time_ns;
  pthread_mutex_lock(&collector->request_lock);
  emitting = collector->emitting = !collector->left;
  pthread_mutex_unlock(&collector->request_lock);
  if (!emitting) {
    sp_encoded_dispose(part);
    return;
  }
  collector->config.emit(collector->config.emit_data, part);
  pthread_mutex_lock(&collector->request_lock);
  collector->emitting = false;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
}

static uint64_t windows_wanted(sp_collector *collector) {
  uint64_t wanted;

  pthread_mutex_lock(&collector->request_lock);
  wanted = collector->windows_wanted;
  pthread_mutex_unlock(&collector->request_lock);
  return wanted;
}

spanprof_status sp_collector_encode(sp_collector *collector,
                                    sp_profile *profile, sp_window *window,
                                    const char *note, sp_encoded_fn emit,
                                    void *data, uint64_t *lost_samples,
                                    uint64_t *lost_ticks) {
  sp_comments comments;

  sp_comments_write(&comments, note);
  window->period_ns = collector->base.interval_ns;
  window->comments = comments.lines;
  window->comment_count = comments.count;
  return sp_profile_encode(profile, window, emit, data, lost_samples,
                           lost_ticks);
}

void sp_collector_window_seal(sp_collector *collector) {
  sp_profile *profile = sp_fold_profile(collector->fold);
  uint64_t wanted = windows_wanted(collector);
  uint64_t lost_samples = 0, lost_ticks = 0;
  sp_window window;

  sp_collector_names_wait(collector);
  if (atomic_load(&collector->left))
    return;
  window = (sp_window){
      .time_ns = collector->window_unix_ns,
      .duration_ns =
          sp_clock_monotonic_ns(collector->config.clock) - collector->window_ns,
  };
  if (sp_collector_encode(collector, profile, &window, "", part_emit, collector,
                          &lost_samples, &lost_ticks)) {
    sp_count(&sp_counts.samples_dropped_memory, lost_samples);
    sp_count(&sp_counts.ticks_dropped, lost_ticks);
    sp_log_warn(collector->config.log, SP_LOG_MEMORY,
                "no memory to encode a profile: %llu samples are lost",
                (unsigned long long)lost_samples);
  }
  if (atomic_load(&collector->left))
    return;
  sp_warnings_of_window(profile, collector->config.log);
  sp_fold_reset(collector->fold);
  sp_span_sweep();
  sp_collector_window_begin(collector);
  pthread_mutex_lock(&collector->request_lock);
  collector->windows_sealed = wanted;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
}

/* What is done once a second. */
static void chores_do(sp_collector *collector) {
  sp_ring_trim(collector->ring);
  sp_fold_refresh(collector->fold);
  sp_span_sweep();
  sp_runtime_names_request();
  sp_last_thread_exit(collector->threads, collector->config.log);
  sp_warnings_tell(&collector->warnings, collector->config.log,
                   collector->signal_number);
}

static uint64_t scan_interval_ns(size_t threads) {
  uint64_t ns = threads * WORK_SCAN_PER_THREAD_NS;

  if (ns < SP_COLLECTOR_SCAN_NS)
    return SP_COLLECTOR_SCAN_NS;
  return sp_min_u64(ns, WORK_SCAN_MAX_NS);
}

void sp_collector_cpu_count(sp_collector *collector) {
  uint64_t now_ns = sp_thread_cpu_ns();

  sp_count(&sp_counts.collector_cpu_ns, now_ns - collector->cpu_ns);
  collector->cpu_ns = now_ns;
}

uint64_t sp_collector_round(sp_collector *collector) {
  uint64_t real_ns = sp_monotonic_ns(), now_ns, end_ns, over_ns, sleep_ns;

  sp_wake_clear(sp_ring_wake(collector->ring));
  sp_collector_recordings_before(collector);
  ring_drain(collector);
  sp_fold_name_frames(collector->fold);
  over_ns = sp_collector_recordings_after(collector);
  if (atomic_load(&collector->stopping))
    return 0;
  if (real_ns >= collector->scan_due_ns) {
    collector->threads = sp_threads_scan(collector->config.log);
    collector->scan_due_ns = real_ns + scan_interval_ns(collector->threads);
  }
  if (real_ns >= collector->chores_due_ns) {
    chores_do(collector);
    collector->chores_due_ns = real_ns + WORK_CHORES_NS;
  }
  now_ns = sp_clock_monotonic_ns(collector->config.clock);
  end_ns = collector->window_ns + atomic_load(&collector->window_most_ns);
  if (now_ns >= end_ns ||
      windows_wanted(collector) != collector->windows_sealed) {
    sp_collector_window_seal(collector);
    end_ns = collector->window_ns + atomic_load(&collector->window_most_ns);
  }
  sleep_ns = sp_min_u64(WORK_ROUND_NS, collector->scan_due_ns - real_ns);
  end_ns = sp_min_u64(end_ns, over_ns);
  return end_ns > now_ns ? sp_min_u64(sleep_ns, end_ns - now_ns) : 0;
}
