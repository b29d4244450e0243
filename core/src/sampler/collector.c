#include "collector.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../label/span.h"
#include "../util/counters.h"
#include "../util/cycles.h"
#include "../util/fork_hooks.h"
#include "../util/own_thread.h"
#include "../util/status.h"
#include "capture.h"
#include "comments.h"
#include "drain_pace.h"
#include "last_thread.h"
#include "runtime.h"
#include "sample_fold.h"
#include "signal.h"
#include "stack_top.h"
#include "thread_table.h"
#include "timer.h"

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

/* AddressSanitizer (GCC 12, clang 14) leaves the locks of its allocator as they
 * are in a forked child: there no fork may meet the collector at work. */
#if defined(__SANITIZE_ADDRESS__)
#define COLLECTOR_FORK_WAIT_NS (60 * SP_NS_PER_S)
#else
#define COLLECTOR_FORK_WAIT_NS (20 * SP_NS_PER_MS)
#endif
#define COLLECTOR_RING_BYTES      (4u << 20)
#define COLLECTOR_SHARDS_MAX      64
#define COLLECTOR_SHARD_BYTES_MAX (256u << 10)

struct sp_collector {
  /* Fixed after start. */
  const sp_mem *mem;
  sp_collector_config config;
  sp_timer_base base;
  int signal_number;
  sp_ring *ring;

  /* Guarded by work. */
  pthread_mutex_t work;
  pthread_cond_t wake;   /* of the collector */
  pthread_cond_t sealed; /* a window was emitted */
  sp_fold *fold;
  pthread_t thread;
  bool running; /* thread is to be joined */
  bool stopping;
  bool forking_in_step; /* the fork met us between two pieces of work */
  uint64_t windows_wanted;
  uint64_t windows_sealed;
  uint64_t window_unix_ns; /* start of the window */
  uint64_t window_ns;      /* the same, monotonic */
  uint64_t last_time_ns;   /* of the last part emitted */
  uint64_t round_ns;       /* real time of the last round */
  uint64_t scan_due_ns;    /* real time, as the threads are real */
  size_t threads;          /* that the last scan found */
  uint64_t chores_due_ns;
  uint64_t cpu_ns; /* of the thread, when last looked */
  uint64_t dropped_seen;
  bool signal_lost;
};

/* Process-wide and never freed: a handler that was preempted may still write to
 * it after the session. */
static sp_ring *collector_ring;

static sp_ring *ring_get(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned shards = 4;
  size_t bytes;

  if (collector_ring) {
    sp_ring_clear(collector_ring);
    return collector_ring;
  }
  while (shards < 2 * (unsigned long)(cores > 0 ? cores : 1) &&
         shards < COLLECTOR_SHARDS_MAX)
    shards *= 2;
  bytes = COLLECTOR_RING_BYTES / shards;
  if (bytes > COLLECTOR_SHARD_BYTES_MAX)
    bytes = COLLECTOR_SHARD_BYTES_MAX;
  collector_ring = sp_ring_new(shards, bytes);
  return collector_ring;
}

static size_t slice_bytes(const sp_collector *collector) {
  size_t room = sp_ring_payload_max(collector->ring) - sizeof(sp_sample) -
                SP_WALK_FRAMES_MAX * sizeof(spanprof_frame);

  if (!collector->config.settings->native_frames)
    return 0;
  return room < SP_SLICE_BYTES_MAX ? room & ~(size_t)7 : SP_SLICE_BYTES_MAX;
}

static void window_begin(sp_collector *collector) {
  collector->window_ns = sp_clock_monotonic_ns(collector->config.clock);
  collector->window_unix_ns = sp_clock_unix_ns(collector->config.clock);
  /* A profile's identity on the server is its series and its time. */
  if (collector->window_unix_ns <= collector->last_time_ns)
    collector->window_unix_ns = collector->last_time_ns + 1;
}

/* At most a shard's size of each shard: handlers that write faster than they
 * are read must not keep the collector from its other work. Without handlers
 * that is everything. */
static void ring_drain(sp_collector *collector) {
  const size_t most = 2 * sp_ring_payload_max(collector->ring);
  unsigned shard = 0, reading = 0;
  size_t bytes, left = most;
  const void *payload;

  while ((payload = sp_ring_next(collector->ring, &shard, &bytes))) {
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
  } while (sp_monotonic_ns() - begun_ns < wait_ns);
}

static void part_emit(void *data, sp_encoded *part) {
  sp_collector *collector = data;

  if (part->time_ns > collector->last_time_ns)
    collector->last_time_ns = part->time_ns;
  collector->config.emit(collector->config.emit_data, part);
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

/* End the window: encode, emit, begin the next. */
static void window_seal(sp_collector *collector) {
  sp_comments comments;
  sp_profile *profile = sp_fold_profile(collector->fold);
  uint64_t wanted = collector->windows_wanted;
  uint64_t lost_samples = 0, lost_ticks = 0;
  sp_window window;

  names_wait(collector);
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
                        &lost_ticks) != SPANPROF_OK) {
    sp_count(&sp_counts.samples_dropped_memory, lost_samples);
    sp_count(&sp_counts.ticks_dropped, lost_ticks);
    sp_log_warn(collector->config.log, SP_LOG_MEMORY,
                "no memory to encode a profile: %llu samples are lost",
                (unsigned long long)lost_samples);
  }
  notes_warn(collector, profile);
  sp_fold_reset(collector->fold);
  sp_span_sweep();
  window_begin(collector);
  collector->windows_sealed = wanted;
  pthread_cond_broadcast(&collector->sealed);
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

/* What is done once a second. */
static void chores_do(sp_collector *collector) {
  bool lost = !sp_signal_owned(collector->signal_number);

  sp_fold_refresh(collector->fold);
  sp_span_sweep();
  sp_runtime_request();
  sp_last_thread_look(collector->threads, collector->config.log);
  drops_tell(collector);
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
  unsigned fill = sp_ring_fill_percent(collector->ring);
  uint64_t real_ns = sp_monotonic_ns(), now_ns, end_ns, sleep_ns;

  sleep_ns = sp_drain_pace_ns(collector->base.interval_ns, fill,
                              real_ns - collector->round_ns);
  collector->round_ns = real_ns;
  ring_drain(collector);
  /* Rather early than a whole round late. */
  if (real_ns + sleep_ns / 2 >= collector->scan_due_ns) {
    collector->threads = sp_threads_scan(collector->config.log);
    collector->scan_due_ns = real_ns + scan_interval_ns(collector->threads);
  }
  if (real_ns >= collector->chores_due_ns) {
    chores_do(collector);
    collector->chores_due_ns = real_ns + COLLECTOR_CHORES_NS;
  }
  now_ns = sp_clock_monotonic_ns(collector->config.clock);
  end_ns =
      collector->window_ns + collector->config.settings->upload_interval_ns;
  if (now_ns >= end_ns ||
      collector->windows_wanted != collector->windows_sealed) {
    window_seal(collector);
    end_ns =
        collector->window_ns + collector->config.settings->upload_interval_ns;
  }
  return end_ns > now_ns ? sp_min_u64(sleep_ns, end_ns - now_ns) : 0;
}

static void *collector_run(void *data) {
  sp_collector *collector = data;

  sp_stack_top_learn();
  pthread_mutex_lock(&collector->work);
  collector->cpu_ns = 0;
  while (!collector->stopping) {
    uint64_t sleep_ns = collector_round(collector);
    uint64_t until_ns =
        sp_clock_monotonic_ns(collector->config.clock) + sleep_ns;

    cpu_count(collector);
    if (collector->windows_wanted == collector->windows_sealed &&
        !collector->stopping)
      sp_clock_wait(collector->config.clock, &collector->wake, &collector->work,
                    until_ns);
  }
  pthread_mutex_unlock(&collector->work);
  return NULL;
}

static void locks_init(sp_collector *collector) {
  pthread_mutex_init(&collector->work, NULL);
  sp_condition_init(&collector->wake);
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

static void collector_free(sp_collector *collector) {
  sp_fold_free(collector->fold);
  pthread_mutex_destroy(&collector->work);
  pthread_cond_destroy(&collector->wake);
  pthread_cond_destroy(&collector->sealed);
  sp_mem_free(collector->mem, collector);
}

static void capture_begin(sp_collector *collector) {
  sp_capture_config capture = {.ring = collector->ring,
                               .slice_bytes_max = slice_bytes(collector),
                               .interval_ns = collector->base.interval_ns,
                               .signal_number = collector->signal_number};

  sp_capture_set(&capture);
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
  locks_init(collector);
  collector->ring = ring_get();
  st = collector->ring ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  sp_timer_base_init(&collector->base, config->settings->sample_rate_hz);
  if (st == SPANPROF_OK)
    st = sp_signal_choose(config->settings->signal_number,
                          &collector->signal_number);
  if (st == SPANPROF_OK)
    st = sp_signal_install(collector->signal_number, sp_capture_signal);
  if (st == SPANPROF_OK)
    st = sp_timer_probe(collector->signal_number);
  sp_cycles_learn(&mark);
  if (st == SPANPROF_OK)
    st = sp_fold_new(&collector->fold, mem, config->settings,
                     collector->base.interval_ns);
  if (st == SPANPROF_OK) {
    window_begin(collector);
    st = thread_start(collector);
  }
  if (st != SPANPROF_OK) {
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

spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns) {
  spanprof_status st = SPANPROF_OK;
  uint64_t wanted;

  pthread_mutex_lock(&collector->work);
  wanted = ++collector->windows_wanted;
  pthread_cond_signal(&collector->wake);
  while (collector->windows_sealed < wanted && !collector->stopping &&
         st == SPANPROF_OK) {
    if (sp_clock_monotonic_ns(collector->config.clock) >= until_ns)
      st = SPANPROF_ERR_TIMEOUT;
    else
      sp_clock_wait(collector->config.clock, &collector->sealed,
                    &collector->work, until_ns);
  }
  pthread_mutex_unlock(&collector->work);
  return st;
}

/* After the timers were deleted: let handlers that run finish. */
static void handlers_wait(void) {
  uint64_t until_ns = sp_monotonic_ns() + COLLECTOR_IDLE_WAIT_NS;

  while (sp_capture_busy() && sp_monotonic_ns() < until_ns)
    sched_yield();
}

void sp_collector_stop(sp_collector *collector) {
  sp_threads_stop();
  handlers_wait();
  sp_capture_set(NULL);
  pthread_mutex_lock(&collector->work);
  collector->stopping = true;
  pthread_cond_signal(&collector->wake);
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->work);
  if (collector->running)
    pthread_join(collector->thread, NULL);
  if (collector->fold) {
    pthread_mutex_lock(&collector->work);
    window_seal(collector);
    pthread_mutex_unlock(&collector->work);
  }
  collector_free(collector);
}

void sp_collector_before_fork(sp_collector *collector) {
  collector->forking_in_step =
      sp_fork_lock(&collector->work, COLLECTOR_FORK_WAIT_NS);
}

void sp_collector_after_fork_parent(sp_collector *collector) {
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
  collector->windows_wanted = 0;
  collector->windows_sealed = 0;
  collector->last_time_ns = 0;
  /* The one thread there is has been seen to. */
  collector->scan_due_ns = sp_monotonic_ns() + COLLECTOR_SCAN_NS;
  collector->dropped_seen = 0;
  window_begin(collector);
  /* Before the new thread runs: it takes the table's lock. */
  sp_threads_after_fork_child(true);
  st = fold_renew(collector);
  if (st == SPANPROF_OK)
    st = thread_start(collector);
  if (st == SPANPROF_OK)
    return;
  sp_threads_stop();
  sp_log_line(collector->config.log, SPANPROF_LOG_WARN,
              "this forked process is not profiled: %s",
              spanprof_status_text(st));
}
