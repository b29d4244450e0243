#include "collector.h"

#include <pthread.h>
#include <sched.h>

#include "collector_recordings.h"
#include "collector_work.h"
#include "sampler/handler/signal.h"
#include "sampler/handler/stack_top.h"
#include "sampler/handler/timer.h"
#include "sampler/thread_table.h"
#include "util/system/cycles.h"
#include "util/system/fork_hooks.h"
#include "util/system/own_thread.h"
#include "util/system/status.h"

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

static void collector_free(sp_collector *collector) {
  if (collector->capture)
    sp_capture_release(collector->capture);
  sp_fold_free(collector->fold);
  pthread_mutex_destroy(&collector->work_lock);
  pthread_mutex_destroy(&collector->request_lock);
  pthread_cond_destroy(&collector->sealed);
  sp_mem_free(collector->mem, collector);
}

/* Last of all: tell the stop that waits, or tidy up where none does. */
static void thread_end(sp_collector *collector) {
  const sp_collector_config config = collector->config;
  bool left;

  pthread_mutex_lock(&collector->request_lock);
  collector->ended = true;
  left = collector->left;
  pthread_cond_broadcast(&collector->sealed);
  pthread_mutex_unlock(&collector->request_lock);
  if (!left)
    return;
  sp_own_thread_gate();
  collector_free(collector);
  config.left(config.emit_data);
}

static void *collector_run(void *data) {
  sp_collector *collector = data;

  sp_stack_top_learn();
  pthread_mutex_lock(&collector->work_lock);
  collector->cpu_ns = 0;
  while (!atomic_load(&collector->stopping)) {
    uint64_t sleep_ns = sp_collector_round(collector);
    uint64_t until_ns =
        sp_clock_monotonic_ns(collector->config.clock) + sleep_ns;

    sp_collector_cpu_count(collector);
    pthread_mutex_unlock(&collector->work_lock);
    sp_clock_sleep(collector->config.clock, sp_ring_wake(collector->ring),
                   until_ns);
    pthread_mutex_lock(&collector->work_lock);
  }
  sp_collector_window_seal(collector);
  sp_collector_recordings_end(collector);
  sp_collector_cpu_count(collector);
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
      .slice_bytes_max = settings->native_frames ? SP_SLICE_BYTES_MAX : 0,
      .interval_ns = collector->base.interval_ns};

  sp_capture_begin(collector->capture, &capture);
}

/* The thread waits with its first round until there is what it looks for: a
 * round before would find no threads, and the next look is 150 ms later. */
static spanprof_status sampling_begin(sp_collector *collector) {
  spanprof_status st;

  pthread_mutex_lock(&collector->work_lock);
  sp_collector_window_begin(collector);
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
  collector->window_most_ns =
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
  sp_cycles_learn(&mark);
  if (!st)
    st = sp_fold_new(&collector->fold, mem, config->settings,
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

void sp_collector_hurry(sp_collector *collector, uint64_t window_ns) {
  if (window_ns < atomic_load(&collector->window_most_ns))
    atomic_store(&collector->window_most_ns, window_ns);
}

spanprof_status sp_collector_flush(sp_collector *collector, uint64_t until_ns) {
  spanprof_status st = SPANPROF_OK;
  uint64_t wanted;

  pthread_mutex_lock(&collector->request_lock);
  wanted = ++collector->windows_wanted;
  sp_wake_call(sp_ring_wake(collector->ring));
  while (collector->windows_sealed < wanted && !collector->stopping && !st) {
    if (sp_clock_monotonic_ns(collector->config.clock) >= until_ns)
      st = SPANPROF_ERR_TIMEOUT;
    else
      sp_clock_wait(collector->config.clock, &collector->sealed,
                    &collector->request_lock, until_ns);
  }
  pthread_mutex_unlock(&collector->request_lock);
  return st;
}

/* After the timers were deleted: let handlers that run finish. */
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

/* Did the thread end by then? If not it is left to itself, as soon as it is in
 * no emit (which never waits). */
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
    collector->left = true;
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
  } else if (collector->fold) {
    pthread_mutex_lock(&collector->work_lock);
    sp_collector_window_seal(collector);
    pthread_mutex_unlock(&collector->work_lock);
  }
  collector_free(collector);
  return SPANPROF_OK;
}

void sp_collector_before_fork(sp_collector *collector) {
  collector->forking_in_step =
      sp_fork_lock(&collector->work_lock, COLLECTOR_FORK_WAIT_NS);
  pthread_mutex_lock(&collector->request_lock);
}

void sp_collector_after_fork_parent(sp_collector *collector) {
  pthread_mutex_unlock(&collector->request_lock);
  if (collector->forking_in_step)
    pthread_mutex_unlock(&collector->work_lock);
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
  sp_collector_recordings_forget(collector);
  collector->running = false;
  collector->stopping = false;
  collector->emitting = false;
  collector->windows_wanted = 0;
  collector->windows_sealed = 0;
  collector->last_time_ns = 0;
  collector->window_most_ns =
      collector->config.settings->upload_interval_ms * SP_NS_PER_MS;
  /* The one thread there is has been seen to. */
  collector->scan_due_ns = sp_monotonic_ns() + SP_COLLECTOR_SCAN_NS;
  collector->warnings =
      (sp_warnings){.signal_lost = collector->warnings.signal_lost};
  sp_collector_window_begin(collector);
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

void sp_collector_abandon(sp_collector *collector) {
  sp_ring_clear(collector->ring);
  sp_capture_after_fork();
  sp_capture_end();
  sp_capture_release(collector->capture);
  sp_threads_after_fork_child(false);
}
