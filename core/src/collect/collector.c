#include "collector.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "collect/samples/runtime_names.h"
#include "collector_recordings.h"
#include "collector_state.h"
#include "comments.h"
#include "last_thread.h"
#include "sampler/handler/signal.h"
#include "sampler/handler/stack_top.h"
#include "sampler/handler/timer.h"
#include "sampler/thread_scan.h"
#include "sampler/thread_table.h"
#include "span/span.h"
#include "util/system/counters.h"
#include "util/system/cycles.h"
#include "util/system/fork_hooks.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

#define COLLECTOR_IDLE_WAIT_NS (100 * SP_NS_PER_MS)

/* Minimum time of a stop, so that the collector thread can encode the remaining
 * samples. */
#define COLLECTOR_MIN_STOP_NS SP_NS_PER_S

/* Maximum time that a fork waits for the collector to be idle. AddressSanitizer
 * (GCC 12, clang 14) does not reset the locks of its allocator in a forked
 * child, so in a build with it, the fork waits longer. */
#if defined(__SANITIZE_ADDRESS__)
#define COLLECTOR_FORK_WAIT_NS (60 * SP_NS_PER_S)
#else
#define COLLECTOR_FORK_WAIT_NS (20 * SP_NS_PER_MS)
#endif

/* Maximum sleep of the collector thread. It is short, because frames must be
 * named while the code that they refer to exists. */
#define COLLECTOR_ROUND_NS (150 * SP_NS_PER_MS)

/* Interval of the scan for threads, so that a new thread is found within 200
 * ms. */
#define COLLECTOR_SCAN_NS (150 * SP_NS_PER_MS)

/* The interval grows with the number of threads. With 5,000 threads, a new
 * thread is found within 1 s. */
#define COLLECTOR_SCAN_MAX_NS        (800 * SP_NS_PER_MS)
#define COLLECTOR_SCAN_PER_THREAD_NS (750 * UINT64_C(1000))

#define COLLECTOR_CHORES_NS SP_NS_PER_S

/* Maximum time for which the end of a window waits for names. If eight threads
 * compete for Ruby's GVL and each keeps it for 100 ms, the thread that names
 * frames gets it within a second. A stop waits less. */
#define COLLECTOR_NAMES_WAIT_NS      (2 * SP_NS_PER_S)
#define COLLECTOR_NAMES_WAIT_STOP_NS (200 * SP_NS_PER_MS)
#define COLLECTOR_NAMES_PAUSE_NS     (5 * SP_NS_PER_MS)

_Static_assert(sizeof(sp_sample) + SP_SLICE_BYTES_MAX +
                       SP_WALK_FRAMES_MAX * sizeof(spanprof_frame) <=
                   SP_RING_SHARD_BYTES / 16,
               "a shard has room for many of the largest samples");

/* Choose the time of the next window. The server identifies a profile by its
 * series and its time, so a time must not occur twice. Times follow the clock,
 * also if it is set back. All times have the same remainder modulo
 * SP_PROFILE_TIME_STEP_NS as the time of the first window. Each time the clock
 * is set back, the remainder becomes one higher, so that the new times differ
 * from those before. */
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

static void window_begin(sp_collector *collector) {
  collector->window_ns = sp_clock_monotonic_ns(collector->config.clock);
  collector->window_unix_ns = time_choose(collector);
  collector->last_time_ns = collector->window_unix_ns;
}

/* Add a sample. A mark is the number of a recording, which its samples have. If
 * the mark of the sample is higher than all marks so far, it may belong to a
 * recording that was requested since the last call of
 * sp_collector_recordings_admit(), so that function is called first. */
static void sample_add_marked(sp_collector *collector,
                              const sp_sample *sample) {
  if (SP_UNLIKELY(sample->mark > collector->newest_mark)) {
    sp_collector_recordings_admit(collector);
    collector->newest_mark = sample->mark;
  }
  sp_aggregator_add(collector->aggregator, sample);
}

/* Read the ring, but from each of its shards at most as many bytes as a shard
 * can hold. So the collector comes to its other work even if signal handlers
 * write faster than it reads. If no handler runs, everything is read. */
static void ring_drain(sp_collector *collector) {
  const size_t most = 2 * sp_ring_payload_max(collector->ring);
  unsigned shard = 0, reading = 0;
  size_t bytes, left = most;
  const void *payload;

  sp_aggregator_scan_modules(collector->aggregator);
  while (!atomic_load(&collector->abandoned) &&
         (payload = sp_ring_next(collector->ring, &shard, &bytes))) {
    if (shard != reading)
      left = most;
    reading = shard;
    sample_add_marked(collector, payload);
    sp_ring_release(collector->ring, shard);
    if (bytes >= left)
      shard++;
    else
      left -= bytes;
  }
}

/* A runtime may resolve names on a thread of its own. While the collector waits
 * for this thread, it drains the ring, so the samples of that time belong to
 * the same window. */
void sp_collector_wait_for_names(sp_collector *collector) {
  uint64_t begun_ns = sp_monotonic_ns(), wait_ns;
  struct timespec pause = {.tv_nsec = (long)COLLECTOR_NAMES_PAUSE_NS};

  do {
    ring_drain(collector);
    if (sp_aggregator_name_frames(collector->aggregator) == 0)
      return;
    sp_runtime_names_request();
    pthread_mutex_unlock(&collector->work_lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&collector->work_lock);
    wait_ns = collector->stopping ? COLLECTOR_NAMES_WAIT_STOP_NS
                                  : COLLECTOR_NAMES_WAIT_NS;
  } while (sp_monotonic_ns() - begun_ns < wait_ns &&
           !atomic_load(&collector->abandoned));
}

static void part_emit(void *data, sp_encoded *part) {
  sp_collector *collector = data;
  bool emitting;

  collector->last_time_ns = part->time_ns;
  pthread_mutex_lock(&collector->request_lock);
  emitting = collector->emitting = !collector->abandoned;
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

static uint64_t windows_requested(sp_collector *collector) {
  uint64_t number;

  pthread_mutex_lock(&collector->request_lock);
  number = collector->windows_requested;
  pthread_mutex_unlock(&collector->request_lock);
  return number;
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

static void window_seal(sp_collector *collector) {
  sp_profile *profile = sp_aggregator_profile(collector->aggregator);
  uint64_t number = windows_requested(collector);
  uint64_t lost_samples = 0, lost_ticks = 0;
  sp_window window;

  sp_collector_wait_for_names(collector);
  if (atomic_load(&collector->abandoned))
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
  if (atomic_load(&collector->abandoned))
    return;
  sp_warnings_log_window(profile, collector->config.log);
  sp_aggregator_reset(collector->aggregator);
  sp_span_sweep();
  window_begin(collector);
  pthread_mutex_lock(&collector->request_lock);
  collector->windows_sealed = number;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
}

/* Do the work that is due once a second. */
static void chores_run(sp_collector *collector) {
  sp_ring_trim(collector->ring);
  sp_aggregator_refresh_modules(collector->aggregator);
  sp_span_sweep();
  sp_runtime_names_request();
  sp_last_thread_exit(collector->threads, collector->config.log);
  sp_warnings_log(&collector->warnings, collector->config.log,
                  collector->signal_number);
}

static uint64_t scan_interval_ns(size_t threads) {
  uint64_t ns = threads * COLLECTOR_SCAN_PER_THREAD_NS;

  if (ns < COLLECTOR_SCAN_NS)
    return COLLECTOR_SCAN_NS;
  return sp_min_u64(ns, COLLECTOR_SCAN_MAX_NS);
}

static void cpu_time_count(sp_collector *collector) {
  uint64_t now_ns = sp_thread_cpu_ns();

  sp_count(&sp_counts.collector_cpu_ns, now_ns - collector->cpu_ns);
  collector->cpu_ns = now_ns;
}

static uint64_t collector_round(sp_collector *collector) {
  uint64_t real_ns = sp_monotonic_ns(), now_ns, end_ns, recordings_end_ns,
           sleep_ns;

  sp_wake_clear(sp_ring_wake(collector->ring));
  sp_collector_recordings_before(collector);
  ring_drain(collector);
  sp_aggregator_name_frames(collector->aggregator);
  recordings_end_ns = sp_collector_recordings_after(collector);
  if (atomic_load(&collector->stopping))
    return 0;
  if (real_ns >= collector->scan_due_ns) {
    collector->threads = sp_threads_scan(collector->config.log);
    collector->scan_due_ns = real_ns + scan_interval_ns(collector->threads);
  }
  if (real_ns >= collector->chores_due_ns) {
    chores_run(collector);
    collector->chores_due_ns = real_ns + COLLECTOR_CHORES_NS;
  }
  now_ns = sp_clock_monotonic_ns(collector->config.clock);
  end_ns = collector->window_ns + atomic_load(&collector->window_max_ns);
  if (now_ns >= end_ns ||
      windows_requested(collector) != collector->windows_sealed) {
    window_seal(collector);
    end_ns = collector->window_ns + atomic_load(&collector->window_max_ns);
  }
  sleep_ns = sp_min_u64(COLLECTOR_ROUND_NS, collector->scan_due_ns - real_ns);
  end_ns = sp_min_u64(end_ns, recordings_end_ns);
  return end_ns > now_ns ? sp_min_u64(sleep_ns, end_ns - now_ns) : 0;
}

static void collector_free(sp_collector *collector) {
  if (collector->capture)
    sp_capture_release(collector->capture);
  sp_aggregator_free(collector->aggregator);
  pthread_mutex_destroy(&collector->work_lock);
  pthread_mutex_destroy(&collector->request_lock);
  pthread_cond_destroy(&collector->sealed);
  sp_mem_free(collector->mem, collector);
}

/* Wake the thread that waits in sp_collector_stop(), or free the collector if
 * no thread waits any more. */
static void thread_end(sp_collector *collector) {
  const sp_collector_config config = collector->config;
  bool abandoned;

  pthread_mutex_lock(&collector->request_lock);
  collector->ended = true;
  abandoned = collector->abandoned;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
  if (!abandoned)
    return;
  sp_own_thread_gate();
  collector_free(collector);
  config.on_abandoned(config.emit_data);
}

static void *collector_run(void *data) {
  sp_collector *collector = data;

  sp_stack_top_measure();
  pthread_mutex_lock(&collector->work_lock);
  collector->cpu_ns = 0;
  while (!atomic_load(&collector->stopping)) {
    uint64_t sleep_ns = collector_round(collector);
    uint64_t until_ns =
        sp_clock_monotonic_ns(collector->config.clock) + sleep_ns;

    cpu_time_count(collector);
    pthread_mutex_unlock(&collector->work_lock);
    sp_clock_sleep(collector->config.clock, sp_ring_wake(collector->ring),
                   until_ns);
    pthread_mutex_lock(&collector->work_lock);
  }
  window_seal(collector);
  sp_collector_recordings_end(collector);
  cpu_time_count(collector);
  pthread_mutex_unlock(&collector->work_lock);
  thread_end(collector);
  return NULL;
}

static void locks_init(sp_collector *collector) {
  pthread_mutex_init(&collector->work_lock, NULL);
  pthread_mutex_init(&collector->request_lock, NULL);
  sp_condition_init(&collector->sealed);
}

static spanprof_status thread_start(sp_collector *collector) {
  int error = sp_own_thread_start(&collector->thread, "spanprof",
                                  SP_OWN_STACK_SMALL, collector_run, collector);

  if (error)
    return sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                         "the collector's thread cannot be started");
  collector->running = true;
  return SPANPROF_OK;
}

static void capture_begin(sp_collector *collector) {
  const sp_settings *settings = collector->config.settings;
  sp_capture_config capture = {
      .slice_bytes_max = settings->native_frames != SPANPROF_NATIVE_FRAMES_NONE
                             ? SP_SLICE_BYTES_MAX
                             : 0,
      .interval_ns = collector->base.interval_ns};

  sp_capture_begin(collector->capture, &capture);
}

/* `work_lock` keeps the collector thread from its first round of work until the
 * timers exist. In a round before that, the scan would find no threads, and the
 * next scan would be 150 ms later. */
static spanprof_status sampling_begin(sp_collector *collector) {
  spanprof_status st;

  pthread_mutex_lock(&collector->work_lock);
  window_begin(collector);
  st = thread_start(collector);
  if (!st) {
    capture_begin(collector);
    sp_threads_start(&collector->base, collector->signal_number,
                     collector->config.settings->registered_threads_only);
  }
  pthread_mutex_unlock(&collector->work_lock);
  return st;
}

spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config) {
  sp_collector *collector = sp_mem_zero(mem, sizeof *collector);
  sp_cycles_mark mark = sp_cycles_mark_now();
  spanprof_status st;

  *out = NULL;
  if (!collector)
    return SPANPROF_ERR_NOMEM;
  collector->mem = mem;
  collector->config = *config;
  collector->window_max_ns =
      config->settings->upload_interval_ms * SP_NS_PER_MS;
  locks_init(collector);
  st = sp_capture_acquire(&collector->capture);
  if (!st)
    collector->ring = sp_capture_ring(collector->capture);
  sp_timer_base_init(&collector->base,
                     (uint32_t)config->settings->sample_rate_hz);
  if (!st)
    st = sp_signal_choose((int)config->settings->signal_number,
                          &collector->signal_number);
  if (!st)
    st = sp_signal_install(collector->signal_number, sp_capture_signal);
  if (!st)
    st = sp_timer_probe(collector->signal_number);
  sp_cycles_calibrate(&mark);
  if (!st)
    st = sp_aggregator_new(&collector->aggregator, mem, config->settings,
                           collector->base.interval_ns);
  if (!st)
    st = sampling_begin(collector);
  if (st) {
    collector_free(collector);
    return st;
  }
  *out = collector;
  return SPANPROF_OK;
}

int sp_collector_signal(const sp_collector *collector) {
  return collector->signal_number;
}

void sp_collector_shorten_windows(sp_collector *collector, uint64_t window_ns) {
  if (window_ns < atomic_load(&collector->window_max_ns))
    atomic_store(&collector->window_max_ns, window_ns);
}

spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns) {
  spanprof_status st = SPANPROF_OK;
  uint64_t number;

  pthread_mutex_lock(&collector->request_lock);
  number = ++collector->windows_requested;
  sp_wake_call(sp_ring_wake(collector->ring));
  while (collector->windows_sealed < number && !collector->stopping && !st) {
    if (sp_clock_monotonic_ns(collector->config.clock) >= until_ns)
      st = SPANPROF_ERR_TIMEOUT;
    else
      sp_clock_wait(collector->config.clock, &collector->sealed,
                    &collector->request_lock, until_ns);
  }
  pthread_mutex_unlock(&collector->request_lock);
  return st;
}

/* Wait for signal handlers that still run after the timers were deleted. */
static void handlers_wait(const sp_collector *collector) {
  uint64_t until_ns = sp_monotonic_ns() + COLLECTOR_IDLE_WAIT_NS;

  while (sp_capture_busy(collector->capture) && sp_monotonic_ns() < until_ns)
    sched_yield();
}

void sp_collector_pause(sp_collector *collector) {
  sp_threads_pause();
  handlers_wait(collector);
}

void sp_collector_halt(sp_collector *collector) {
  sp_threads_stop();
  handlers_wait(collector);
  sp_capture_end();
  pthread_mutex_lock(&collector->request_lock);
  collector->stopping = true;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
  sp_wake_call(sp_ring_wake(collector->ring));
}

/* Wait for the collector thread. Returns false if the thread has not ended by
 * `until_ns`; nothing then waits for the thread, which ends by itself. If the
 * thread is in a call of `emit`, which never waits, this function waits for the
 * end of that call, even after `until_ns`. */
static bool thread_wait(sp_collector *collector, uint64_t until_ns) {
  const sp_clock *clock = collector->config.clock;
  bool ended;

  pthread_mutex_lock(&collector->request_lock);
  while (!collector->ended &&
         (collector->emitting || sp_clock_monotonic_ns(clock) < until_ns))
    sp_clock_wait(clock, &collector->sealed, &collector->request_lock,
                  collector->emitting ? UINT64_MAX : until_ns);
  ended = collector->ended;
  if (!ended) {
    collector->abandoned = true;
    sp_own_thread_defer_join(collector->thread);
  }
  pthread_mutex_unlock(&collector->request_lock);
  return ended;
}

spanprof_status sp_collector_stop(sp_collector *collector, uint64_t until_ns) {
  uint64_t least_ns =
      sp_clock_monotonic_ns(collector->config.clock) + COLLECTOR_MIN_STOP_NS;

  if (collector->running) {
    if (!thread_wait(collector, sp_max_u64(until_ns, least_ns)))
      return SPANPROF_ERR_TIMEOUT;
    pthread_join(collector->thread, NULL);
  } else if (collector->aggregator) {
    pthread_mutex_lock(&collector->work_lock);
    window_seal(collector);
    pthread_mutex_unlock(&collector->work_lock);
  }
  collector_free(collector);
  return SPANPROF_OK;
}

void sp_collector_before_fork(sp_collector *collector) {
  collector->fork_between_steps =
      sp_fork_lock(&collector->work_lock, COLLECTOR_FORK_WAIT_NS);
  pthread_mutex_lock(&collector->request_lock);
}

void sp_collector_after_fork_parent(sp_collector *collector) {
  pthread_mutex_unlock(&collector->request_lock);
  if (collector->fork_between_steps)
    pthread_mutex_unlock(&collector->work_lock);
}

/* Replace the aggregator if the fork interrupted the collector at work. The
 * tables of the old aggregator may be half written, so they are not touched. */
static spanprof_status aggregator_renew(sp_collector *collector) {
  if (collector->fork_between_steps) {
    sp_aggregator_reset(collector->aggregator);
    return SPANPROF_OK;
  }
  return sp_aggregator_new(&collector->aggregator, collector->mem,
                           collector->config.settings,
                           collector->base.interval_ns);
}

void sp_collector_after_fork_child(sp_collector *collector) {
  spanprof_status st;

  sp_ring_clear(collector->ring);
  sp_capture_after_fork();
  locks_init(collector);
  sp_collector_recordings_drop(collector);
  collector->running = false;
  collector->stopping = false;
  collector->emitting = false;
  collector->windows_requested = 0;
  collector->windows_sealed = 0;
  collector->last_time_ns = 0;
  collector->window_max_ns =
      collector->config.settings->upload_interval_ms * SP_NS_PER_MS;
  /* The child's only thread is already registered, so the scan can wait. */
  collector->scan_due_ns = sp_monotonic_ns() + COLLECTOR_SCAN_NS;
  collector->warnings =
      (sp_warnings){.signal_lost = collector->warnings.signal_lost};
  window_begin(collector);
  /* This call must precede the start of the new collector thread, because it
   * initializes the lock of the thread table, which that thread acquires. */
  sp_threads_after_fork_child(true);
  st = aggregator_renew(collector);
  if (!st)
    st = thread_start(collector);
  if (!st)
    return;
  sp_threads_stop();
  sp_log_line(collector->config.log, SPANPROF_LOG_WARN,
              "this forked process is not profiled: %s",
              spanprof_status_text(st));
}

void sp_collector_abandon(sp_collector *collector) {
  sp_ring_clear(collector->ring);
  sp_capture_after_fork();
  sp_capture_end();
  sp_capture_release(collector->capture);
  sp_threads_after_fork_child(false);
}
