#include "collector.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../label/label_node.h"
#include "../sampler/capture.h"
#include "../sampler/runtime.h"
#include "../sampler/signal.h"
#include "../sampler/stack_top.h"
#include "../sampler/thread_scan.h"
#include "../sampler/thread_table.h"
#include "../sampler/timer.h"
#include "../span/span.h"
#include "../span/span_pool.h"
#include "../util/counters.h"
#include "../util/cycles.h"
#include "../util/fork_hooks.h"
#include "../util/own_thread.h"
#include "../util/status.h"
#include "comments.h"
#include "last_thread.h"
#include "sample_fold.h"

/* How long the collector sleeps where nobody calls it: names are asked for
 * while what they name is there. */
#define COLLECTOR_ROUND_NS (150 * SP_NS_PER_MS)

/* 150 ms finds a thread within 200 ms; 5,000 threads within 1 s. */
#define COLLECTOR_SCAN_NS            (150 * SP_NS_PER_MS)
#define COLLECTOR_SCAN_MAX_NS        (800 * SP_NS_PER_MS)
#define COLLECTOR_SCAN_PER_THREAD_NS (750 * UINT64_C(1000))

#define COLLECTOR_CHORES_NS SP_NS_PER_S

/* With eight threads that want the GVL and give it up every 100 ms, the one
 * that names frames comes to its turn within a second. At a stop nobody waits.
 */
#define COLLECTOR_NAMES_WAIT_NS      (2 * SP_NS_PER_S)
#define COLLECTOR_NAMES_WAIT_STOP_NS (200 * SP_NS_PER_MS)
#define COLLECTOR_NAMES_PAUSE_NS     (5 * SP_NS_PER_MS)

#define COLLECTOR_IDLE_WAIT_NS (100 * SP_NS_PER_MS)

/* Even a stop without time lets the thread encode what it has. */
#define COLLECTOR_MIN_STOP_NS SP_NS_PER_S

/* AddressSanitizer (GCC 12, clang 14) leaves the locks of its allocator as they
 * are in a forked child: there no fork may meet the collector at work. */
#if defined(__SANITIZE_ADDRESS__)
#define COLLECTOR_FORK_WAIT_NS (60 * SP_NS_PER_S)
#else
#define COLLECTOR_FORK_WAIT_NS (20 * SP_NS_PER_MS)
#endif

_Static_assert(sizeof(sp_sample) + SP_SLICE_BYTES_MAX +
                       SP_WALK_FRAMES_MAX * sizeof(spanprof_frame) <=
                   SP_RING_SHARD_BYTES / 16,
               "a shard has room for many of the largest samples");

struct sp_collector {
  /* Fixed after start. */
  const sp_mem *mem;
  sp_collector_config config;
  sp_timer_base base;
  int signal_number;
  sp_capture *capture;
  sp_ring *ring; /* the capture's */
  pthread_t thread;
  bool running; /* thread is to be joined */

  /* Guarded by gate. */
  pthread_mutex_t gate;
  pthread_cond_t sealed; /* a window was emitted, or the thread ended */
  uint64_t windows_wanted;
  uint64_t windows_sealed;
  bool emitting; /* emit is called */
  bool ended;    /* the thread uses nothing any more */
  /* The same, and read without it. */
  _Atomic uint64_t window_most_ns; /* the length of a window */
  _Atomic bool stopping;
  _Atomic bool left; /* the stop did not wait for the thread */

  /* Guarded by work. */
  pthread_mutex_t work;
  sp_fold *fold;
  bool forking_in_step;    /* the fork met us between two pieces of work */
  uint64_t window_unix_ns; /* start of the window */
  uint64_t window_ns;      /* the same, monotonic */
  uint64_t last_time_ns;   /* of the last part emitted */
  uint64_t scan_due_ns;    /* real time, as the threads are real */
  size_t threads;          /* that the last scan found */
  uint64_t chores_due_ns;
  uint64_t cpu_ns; /* of the thread, when last looked */
  /* Counts that were warned of. */
  uint64_t dropped_seen;
  uint64_t labels_refused_seen;
  uint64_t spans_refused_seen;
  bool signal_lost;
};

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

static void window_begin(sp_collector *collector) {
  collector->window_ns = sp_clock_monotonic_ns(collector->config.clock);
  collector->window_unix_ns = time_choose(collector);
  collector->last_time_ns = collector->window_unix_ns;
}

/* At most a shard's size of each shard: handlers that write faster than they
 * are read must not keep the collector from its other work. Without handlers
 * that is everything. */
static void ring_drain(sp_collector *collector) {
  const size_t most = 2 * sp_ring_payload_max(collector->ring);
  unsigned shard = 0, reading = 0;
  size_t bytes, left = most;
  const void *payload;

  while (!atomic_load(&collector->left) &&
         (payload = sp_ring_next(collector->ring, &shard, &bytes))) {
    if (shard != reading)
      left = most;
    reading = shard;
    sp_fold_sample(collector->fold, payload);
    sp_ring_release(collector->ring, shard);
    if (bytes >= left)
      shard++;
    else
      left -= bytes;
  }
}

/* Have waiting names asked for, and wait a little where the runtime answers
 * from a thread of its own; what is sampled meanwhile is still of the window.
 * Gives up `work` meanwhile. */
static void names_wait(sp_collector *collector) {
  uint64_t begun_ns = sp_monotonic_ns(), wait_ns;
  struct timespec pause = {.tv_nsec = (long)COLLECTOR_NAMES_PAUSE_NS};

  do {
    ring_drain(collector);
    if (sp_runtime_request() == 0)
      return;
    pthread_mutex_unlock(&collector->work);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&collector->work);
    wait_ns = collector->stopping ? COLLECTOR_NAMES_WAIT_STOP_NS
                                  : COLLECTOR_NAMES_WAIT_NS;
  } while (sp_monotonic_ns() - begun_ns < wait_ns &&
           !atomic_load(&collector->left));
}

static void part_emit(void *data, sp_encoded *part) {
  sp_collector *collector = data;
  bool emitting;

  collector->last_time_ns = part->time_ns;
  pthread_mutex_lock(&collector->gate);
  emitting = collector->emitting = !collector->left;
  pthread_mutex_unlock(&collector->gate);
  if (!emitting) {
    sp_encoded_dispose(part);
    return;
  }
  collector->config.emit(collector->config.emit_data, part);
  pthread_mutex_lock(&collector->gate);
  collector->emitting = false;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->gate);
}

/* What of the window a reader of its profile could wonder about. */
static void notes_warn(sp_collector *collector, const sp_profile *profile) {
  sp_profile_notes notes = sp_profile_notes_get(profile);

  if (notes.overflow_samples > 0)
    sp_log_warn(collector->config.log, SP_LOG_MEMORY,
                "%llu samples lost their stacks: a profile holds no more "
                "distinct ones; a shorter upload_interval_ms helps",
                (unsigned long long)notes.overflow_samples);
  if (notes.labels_capped > 0)
    sp_log_warn(collector->config.log, SP_LOG_LABELS,
                "%llu samples lost labels: the server takes 30 names a series",
                (unsigned long long)notes.labels_capped);
}

static uint64_t windows_wanted(sp_collector *collector) {
  uint64_t wanted;

  pthread_mutex_lock(&collector->gate);
  wanted = collector->windows_wanted;
  pthread_mutex_unlock(&collector->gate);
  return wanted;
}

/* End the window: encode, emit, begin the next. */
static void window_seal(sp_collector *collector) {
  sp_comments comments;
  sp_profile *profile = sp_fold_profile(collector->fold);
  uint64_t wanted = windows_wanted(collector);
  uint64_t lost_samples = 0, lost_ticks = 0;
  sp_window window;

  names_wait(collector);
  if (atomic_load(&collector->left))
    return;
  sp_comments_write(&comments);
  window = (sp_window){
      .time_ns = collector->window_unix_ns,
      .duration_ns =
          sp_clock_monotonic_ns(collector->config.clock) - collector->window_ns,
      .period_ns = collector->base.interval_ns,
      .comments = comments.lines,
      .comment_count = SP_COMMENT_COUNT,
  };
  if (sp_profile_encode(profile, &window, part_emit, collector, &lost_samples,
                        &lost_ticks)) {
    sp_count(&sp_counts.samples_dropped_memory, lost_samples);
    sp_count(&sp_counts.ticks_dropped, lost_ticks);
    sp_log_warn(collector->config.log, SP_LOG_MEMORY,
                "no memory to encode a profile: %llu samples are lost",
                (unsigned long long)lost_samples);
  }
  if (atomic_load(&collector->left))
    return;
  notes_warn(collector, profile);
  sp_fold_reset(collector->fold);
  sp_span_sweep();
  window_begin(collector);
  pthread_mutex_lock(&collector->gate);
  collector->windows_sealed = wanted;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->gate);
}

static void drops_tell(sp_collector *collector) {
  uint64_t dropped = sp_counted(&sp_counts.samples_dropped_busy) +
                     sp_counted(&sp_counts.samples_dropped_full) +
                     sp_counted(&sp_counts.samples_dropped_memory);

  if (dropped > collector->dropped_seen)
    sp_log_warn(collector->config.log, SP_LOG_SAMPLES,
                "%llu samples could not be kept (ring or memory full)",
                (unsigned long long)(dropped - collector->dropped_seen));
  collector->dropped_seen = dropped;
}

/* How much the counter grew since `seen`, which follows it. */
static uint64_t count_grown(const sp_counter *counter, uint64_t *seen) {
  uint64_t before = *seen;

  *seen = sp_counted(counter);
  return *seen - before;
}

static void refusals_tell(sp_collector *collector) {
  uint64_t labels =
      count_grown(&sp_counts.labels_refused, &collector->labels_refused_seen);
  uint64_t spans =
      count_grown(&sp_counts.spans_refused, &collector->spans_refused_seen);

  if (labels > 0)
    sp_log_warn(collector->config.log, SP_LOG_LABELS,
                "%llu labels were refused: in its life a process has %u "
                "different sets of labels, of %u labels each, and texts of %u "
                "MiB",
                (unsigned long long)labels, SP_LABEL_NODES - 1,
                SP_LABEL_DEPTH_MAX, (unsigned)(SP_TEXT_BYTES_MAX >> 20));
  if (spans > 0)
    sp_log_warn(collector->config.log, SP_LOG_SPANS,
                "%llu spans were refused: there are %u at a time, or no memory",
                (unsigned long long)spans, SP_SPANS_MAX);
}

/* What is done once a second. */
static void chores_do(sp_collector *collector) {
  bool lost = !sp_signal_owned(collector->signal_number);

  sp_ring_trim(collector->ring);
  sp_fold_refresh(collector->fold);
  sp_span_sweep();
  sp_runtime_request();
  sp_last_thread_look(collector->threads, collector->config.log);
  drops_tell(collector);
  refusals_tell(collector);
  if (lost && !collector->signal_lost)
    sp_log_warn(collector->config.log, SP_LOG_SIGNAL,
                "another handler was installed for signal %d: samples arrive "
                "only if it passes them on; the option signal_number chooses "
                "another signal",
                collector->signal_number);
  collector->signal_lost = lost;
}

static uint64_t scan_interval_ns(size_t threads) {
  uint64_t ns = threads * COLLECTOR_SCAN_PER_THREAD_NS;

  if (ns < COLLECTOR_SCAN_NS)
    return COLLECTOR_SCAN_NS;
  return sp_min_u64(ns, COLLECTOR_SCAN_MAX_NS);
}

static void cpu_count(sp_collector *collector) {
  uint64_t now_ns = sp_thread_cpu_ns();

  sp_count(&sp_counts.collector_cpu_ns, now_ns - collector->cpu_ns);
  collector->cpu_ns = now_ns;
}

/* One round of work; returns how long to sleep. */
static uint64_t collector_round(sp_collector *collector) {
  uint64_t real_ns = sp_monotonic_ns(), now_ns, end_ns, sleep_ns;

  sp_wake_take(sp_ring_wake(collector->ring));
  ring_drain(collector);
  if (atomic_load(&collector->stopping))
    return 0;
  if (real_ns >= collector->scan_due_ns) {
    collector->threads = sp_threads_scan(collector->config.log);
    collector->scan_due_ns = real_ns + scan_interval_ns(collector->threads);
  }
  if (real_ns >= collector->chores_due_ns) {
    chores_do(collector);
    collector->chores_due_ns = real_ns + COLLECTOR_CHORES_NS;
  }
  now_ns = sp_clock_monotonic_ns(collector->config.clock);
  end_ns = collector->window_ns + atomic_load(&collector->window_most_ns);
  if (now_ns >= end_ns ||
      windows_wanted(collector) != collector->windows_sealed) {
    window_seal(collector);
    end_ns = collector->window_ns + atomic_load(&collector->window_most_ns);
  }
  sleep_ns = sp_min_u64(COLLECTOR_ROUND_NS, collector->scan_due_ns - real_ns);
  return end_ns > now_ns ? sp_min_u64(sleep_ns, end_ns - now_ns) : 0;
}

static void collector_free(sp_collector *collector) {
  if (collector->capture)
    sp_capture_leave(collector->capture);
  sp_fold_free(collector->fold);
  pthread_mutex_destroy(&collector->work);
  pthread_mutex_destroy(&collector->gate);
  pthread_cond_destroy(&collector->sealed);
  sp_mem_free(collector->mem, collector);
}

/* Last of all: tell the stop that waits, or tidy up where none does. */
static void thread_end(sp_collector *collector) {
  const sp_collector_config config = collector->config;
  bool left;

  pthread_mutex_lock(&collector->gate);
  collector->ended = true;
  left = collector->left;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->gate);
  if (!left)
    return;
  collector_free(collector);
  config.left(config.emit_data);
}

static void *collector_run(void *data) {
  sp_collector *collector = data;

  sp_stack_top_learn();
  pthread_mutex_lock(&collector->work);
  collector->cpu_ns = 0;
  while (!atomic_load(&collector->stopping)) {
    uint64_t sleep_ns = collector_round(collector);
    uint64_t until_ns =
        sp_clock_monotonic_ns(collector->config.clock) + sleep_ns;

    cpu_count(collector);
    pthread_mutex_unlock(&collector->work);
    sp_clock_sleep(collector->config.clock, sp_ring_wake(collector->ring),
                   until_ns);
    pthread_mutex_lock(&collector->work);
  }
  window_seal(collector);
  cpu_count(collector);
  pthread_mutex_unlock(&collector->work);
  thread_end(collector);
  return NULL;
}

static void locks_init(sp_collector *collector) {
  pthread_mutex_init(&collector->work, NULL);
  pthread_mutex_init(&collector->gate, NULL);
  sp_condition_init(&collector->sealed);
}

static spanprof_status thread_start(sp_collector *collector) {
  int error = sp_own_thread_start(&collector->thread, "spanprof", collector_run,
                                  collector);

  if (error)
    return sp_fail_errno(SPANPROF_ERR_SYSTEM, error,
                         "the collector's thread cannot be started");
  collector->running = true;
  return SPANPROF_OK;
}

static void capture_begin(sp_collector *collector) {
  const sp_settings *settings = collector->config.settings;
  sp_capture_config capture = {
      .slice_bytes_max = settings->native_frames ? SP_SLICE_BYTES_MAX : 0,
      .interval_ns = collector->base.interval_ns,
      .signal_number = collector->signal_number};

  sp_capture_begin(collector->capture, &capture);
}

spanprof_status sp_collector_start(sp_collector **out, const sp_mem *mem,
                                   const sp_collector_config *config) {
  sp_collector *collector = sp_mem_zero(mem, sizeof *collector);
  sp_cycles_mark mark = sp_cycles_mark_take();
  spanprof_status st;

  *out = NULL;
  if (!collector)
    return SPANPROF_ERR_NOMEM;
  collector->mem = mem;
  collector->config = *config;
  collector->window_most_ns = config->settings->upload_interval_ns;
  locks_init(collector);
  st = sp_capture_hold(&collector->capture);
  if (!st)
    collector->ring = sp_capture_ring(collector->capture);
  sp_timer_base_init(&collector->base, config->settings->sample_rate_hz);
  if (!st)
    st = sp_signal_choose(config->settings->signal_number,
                          &collector->signal_number);
  if (!st)
    st = sp_signal_install(collector->signal_number, sp_capture_signal);
  if (!st)
    st = sp_timer_probe(collector->signal_number);
  sp_cycles_learn(&mark);
  if (!st)
    st = sp_fold_new(&collector->fold, mem, config->settings,
                     collector->base.interval_ns);
  if (!st) {
    window_begin(collector);
    st = thread_start(collector);
  }
  if (st) {
    collector_free(collector);
    return st;
  }
  capture_begin(collector);
  sp_threads_start(&collector->base, collector->signal_number);
  *out = collector;
  return SPANPROF_OK;
}

int sp_collector_signal(const sp_collector *collector) {
  return collector->signal_number;
}

void sp_collector_hurry(sp_collector *collector, uint64_t window_ns) {
  if (window_ns < atomic_load(&collector->window_most_ns))
    atomic_store(&collector->window_most_ns, window_ns);
}

spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns) {
  spanprof_status st = SPANPROF_OK;
  uint64_t wanted;

  pthread_mutex_lock(&collector->gate);
  wanted = ++collector->windows_wanted;
  sp_wake_call(sp_ring_wake(collector->ring));
  while (collector->windows_sealed < wanted && !collector->stopping && !st) {
    if (sp_clock_monotonic_ns(collector->config.clock) >= until_ns)
      st = SPANPROF_ERR_TIMEOUT;
    else
      sp_clock_wait(collector->config.clock, &collector->sealed,
                    &collector->gate, until_ns);
  }
  pthread_mutex_unlock(&collector->gate);
  return st;
}

/* After the timers were deleted: let handlers that run finish. */
static void handlers_wait(const sp_collector *collector) {
  uint64_t until_ns = sp_monotonic_ns() + COLLECTOR_IDLE_WAIT_NS;

  while (sp_capture_busy(collector->capture) && sp_monotonic_ns() < until_ns)
    sched_yield();
}

void sp_collector_halt(sp_collector *collector) {
  sp_threads_stop();
  handlers_wait(collector);
  sp_capture_end();
  pthread_mutex_lock(&collector->gate);
  collector->stopping = true;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->gate);
  sp_wake_call(sp_ring_wake(collector->ring));
}

/* Did the thread end by then? If not it is left to itself, as soon as it is in
 * no emit (which never waits). */
static bool thread_wait(sp_collector *collector, uint64_t until_ns) {
  const sp_clock *clock = collector->config.clock;
  bool ended;

  pthread_mutex_lock(&collector->gate);
  while (!collector->ended &&
         (collector->emitting || sp_clock_monotonic_ns(clock) < until_ns))
    sp_clock_wait(clock, &collector->sealed, &collector->gate,
                  collector->emitting ? UINT64_MAX : until_ns);
  ended = collector->ended;
  if (!ended) {
    collector->left = true;
    pthread_detach(collector->thread);
  }
  pthread_mutex_unlock(&collector->gate);
  return ended;
}

spanprof_status sp_collector_stop(sp_collector *collector, uint64_t until_ns) {
  uint64_t least_ns =
      sp_clock_monotonic_ns(collector->config.clock) + COLLECTOR_MIN_STOP_NS;

  if (collector->running) {
    if (!thread_wait(collector, sp_max_u64(until_ns, least_ns)))
      return SPANPROF_ERR_TIMEOUT;
    pthread_join(collector->thread, NULL);
  } else if (collector->fold) {
    pthread_mutex_lock(&collector->work);
    window_seal(collector);
    pthread_mutex_unlock(&collector->work);
  }
  collector_free(collector);
  return SPANPROF_OK;
}

void sp_collector_before_fork(sp_collector *collector) {
  collector->forking_in_step =
      sp_fork_lock(&collector->work, COLLECTOR_FORK_WAIT_NS);
  pthread_mutex_lock(&collector->gate);
}

void sp_collector_after_fork_parent(sp_collector *collector) {
  pthread_mutex_unlock(&collector->gate);
  if (collector->forking_in_step)
    pthread_mutex_unlock(&collector->work);
}

/* Where the fork met the collector at work, its tables may be half written:
 * they are left alone, and the child gets new ones. */
static spanprof_status fold_renew(sp_collector *collector) {
  if (collector->forking_in_step) {
    sp_fold_reset(collector->fold);
    return SPANPROF_OK;
  }
  return sp_fold_new(&collector->fold, collector->mem,
                     collector->config.settings, collector->base.interval_ns);
}

void sp_collector_after_fork_child(sp_collector *collector) {
  spanprof_status st;

  sp_ring_clear(collector->ring);
  sp_capture_after_fork();
  locks_init(collector);
  collector->running = false;
  collector->stopping = false;
  collector->emitting = false;
  collector->windows_wanted = 0;
  collector->windows_sealed = 0;
  collector->last_time_ns = 0;
  collector->window_most_ns = collector->config.settings->upload_interval_ns;
  /* The one thread there is has been seen to. */
  collector->scan_due_ns = sp_monotonic_ns() + COLLECTOR_SCAN_NS;
  collector->dropped_seen = 0;
  collector->labels_refused_seen = 0;
  collector->spans_refused_seen = 0;
  window_begin(collector);
  /* Before the new thread runs: it takes the table's lock. */
  sp_threads_after_fork_child(true);
  st = fold_renew(collector);
  if (!st)
    st = thread_start(collector);
  if (!st)
    return;
  sp_threads_stop();
  sp_log_line(collector->config.log, SPANPROF_LOG_WARN,
              "this forked process is not profiled: %s",
              spanprof_status_text(st));
}
