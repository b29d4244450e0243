#include "collect/collector.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "burn.h"
#include "check.h"
#include "collector_settings.h"
#include "failing_mem.h"
#include "label_reset.h"
#include "sampler/capture.h"
#include "util/system/counters.h"

/* The number of cores that sysconf() below reports; 0: the real number. The
 * function replaces libc's, except under ThreadSanitizer, which calls sysconf()
 * before dlsym() works. */
static long core_count;

#if !defined(__SANITIZE_THREAD__)
long sysconf(int name) {
  static long (*next)(int);

  if (name == _SC_NPROCESSORS_ONLN && core_count > 0)
    return core_count;
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
  return next(name);
}
#endif

static uint64_t emitted_parts, emitted_samples, emitted_ticks, emitted_last_ns;

static void part_receive(void *data, sp_encoded *part) {
  (void)data;
  emitted_parts++;
  emitted_samples += part->samples;
  emitted_ticks += part->ticks;
  emitted_last_ns = part->time_ns;
  sp_encoded_dispose(part);
}

static sp_log quiet_log;

static void log_nothing(void *data, spanprof_log_level level,
                        const char *message) {
  (void)data, (void)level, (void)message;
}

static sp_collector_config config_given(void) {
  sp_log_init(&quiet_log, log_nothing, NULL, SPANPROF_LOG_DEBUG,
              sp_clock_system());
  emitted_parts = emitted_samples = emitted_ticks = 0;
  sp_counters_reset();
  return (sp_collector_config){.settings = &collector_settings,
                               .clock = sp_clock_system(),
                               .log = &quiet_log,
                               .emit = part_receive};
}

static void collector_end(sp_collector *collector) {
  sp_collector_halt(collector);
  CHECK_EQUAL(sp_collector_stop(collector, UINT64_MAX), SPANPROF_OK);
}

static void every_sample_taken_is_emitted_or_counted(void) {
  sp_collector_config config = config_given();
  sp_collector *collector;
  uint64_t dropped;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  burn_cpu_ns(300 * SP_NS_PER_MS);
  collector_end(collector);
  dropped = sp_counted(&sp_counts.samples_dropped_full) +
            sp_counted(&sp_counts.samples_dropped_stop);
  CHECK(emitted_samples > 0);
  CHECK_EQUAL(emitted_samples + dropped, sp_counted(&sp_counts.samples_taken));
  CHECK_EQUAL(emitted_ticks + sp_counted(&sp_counts.ticks_dropped),
              sp_counted(&sp_counts.ticks_taken));
}

static void a_flush_ends_the_window_immediately(void) {
  sp_collector_config config = config_given();
  uint64_t minute_ns = 60 * SP_NS_PER_S, last_ns = 0;
  sp_collector *collector;
  int i;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  for (i = 1; i <= 3; i++) {
    burn_cpu_ns(100 * SP_NS_PER_MS);
    CHECK_EQUAL(sp_collector_flush(
                    collector, sp_clock_monotonic_ns(config.clock) + minute_ns),
                SPANPROF_OK);
    CHECK_EQUAL(emitted_parts, i);
    CHECK(emitted_last_ns > last_ns);
    last_ns = emitted_last_ns;
  }
  CHECK_EQUAL(sp_collector_flush(collector, 0), SPANPROF_ERR_TIMEOUT);
  collector_end(collector);
}

static bool signal_is_blocked(int number) {
  sigset_t mask;

  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  return sigismember(&mask, number);
}

/* A thread that blocks all signals, as threads of daemons do. The profiling
 * signal stays blocked until the thread registers. */
static void *mask_and_register(void *data) {
  int number = *(int *)data;
  spanprof_label_token token;
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  CHECK_EQUAL(spanprof_label_push_bytes("job", 3, "1", 1, &token), SPANPROF_OK);
  spanprof_label_pop(token);
  CHECK(signal_is_blocked(number));
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  CHECK(!signal_is_blocked(number));
  CHECK(signal_is_blocked(SIGUSR1));
  return NULL;
}

static void only_a_registration_unblocks_the_signal(void) {
  sp_collector_config config = config_given();
  sp_collector *collector;
  pthread_t thread;
  int number;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  number = sp_collector_signal(collector);
  CHECK_EQUAL(pthread_create(&thread, NULL, mask_and_register, &number), 0);
  pthread_join(thread, NULL);
  collector_end(collector);
}

static void start_and_sample(const sp_mem *mem) {
  sp_collector_config config = config_given();
  sp_collector *collector;

  if (sp_collector_start(&collector, mem, &config) != SPANPROF_OK) {
    CHECK(collector == NULL);
    return;
  }
  burn_cpu_ns(8 * SP_NS_PER_MS);
  collector_end(collector);
  CHECK_EQUAL(emitted_ticks + sp_counted(&sp_counts.ticks_dropped),
              sp_counted(&sp_counts.ticks_taken));
}

/* failing_mem_sweep() cannot be used, because the number of allocations depends
 * on the samples. */
static void samples_lost_by_failed_allocations_are_counted(void) {
  size_t n;

  for (n = 1; n <= 150; n++) {
    failing_mem failing;

    failing_mem_init(&failing, n);
    start_and_sample(&failing.mem);
    CHECK_EQUAL(failing.live, 0);
  }
}

#define DEEP_BYTES (48 * 1024)

/* Take `count` samples as the signal handler does, with a stack of about 48 KB.
 * `read` may be NULL. Otherwise it is the number of samples that the collector
 * has read, including those of real timers, and this function waits while the
 * collector has `room` samples left to read. */
__attribute__((noinline)) static void
deep_samples_take(uintptr_t bottom, size_t count, const _Atomic size_t *read,
                  size_t room) {
  volatile char frame[1000];
  sp_thread *thread = sp_self_current()->thread;
  ucontext_t here;
  size_t i;

  frame[0] = 0;
  if ((uintptr_t)frame > bottom) {
    deep_samples_take(bottom, count, read, room);
    frame[1] = 0;
    return;
  }
  for (i = 0; i < count; i++) {
    while (read && i >= *read + room)
      sched_yield();
    getcontext(&here);
    sp_capture_signal(SIGUSR1, thread->index, 1, &here);
  }
}

static uintptr_t deep_bottom(void) {
  return (uintptr_t)__builtin_frame_address(0) - DEEP_BYTES;
}

/* Check that the stacks of the `samples` samples that the test has taken are
 * whole. The profiling timers may add samples, whose stacks may be truncated
 * under ThreadSanitizer, because they are deeper. */
static void check_whole_stacks(uint64_t samples) {
  CHECK(emitted_samples >= samples);
  CHECK(sp_counted(&sp_counts.stacks_truncated) <= emitted_samples - samples);
}

/* Settings at 1 Hz, so that the timers take few samples. */
static const sp_settings *still_settings(void) {
  static sp_settings still;

  still = collector_settings;
  still.sample_rate_hz = 1;
  return &still;
}

static uint64_t still_ns(void *data) {
  (void)data;
  return SP_NS_PER_S;
}

static void still_wait(void *data, pthread_cond_t *condition,
                       pthread_mutex_t *mutex, uint64_t until_ns) {
  (void)data, (void)until_ns;
  pthread_cond_wait(condition, mutex);
}

static void still_sleep(void *data, sp_wake *wake, uint64_t until_ns) {
  (void)data, (void)until_ns;
  sp_wake_wait(wake, UINT64_MAX);
}

/* A clock that stands still, so that no wait ends by its deadline. */
static const sp_clock still_clock = {
    .monotonic_ns = still_ns,
    .unix_ns = still_ns,
    .wait = still_wait,
    .sleep = still_sleep,
};

static _Atomic size_t deep_read;

static size_t deep_walk(void *data, const spanprof_capture *capture,
                        spanprof_frame *frames, size_t max, int *cut) {
  (void)data, (void)capture, (void)max;
  frames[0] = (spanprof_frame){.code = 1};
  *cut = 0;
  return 1;
}

static spanprof_status deep_resolve(void *data, const spanprof_frame *frame,
                                    spanprof_name *out) {
  (void)data, (void)frame;
  out->function = "deep";
  out->function_bytes = 4;
  return SPANPROF_OK;
}

static void deep_normalize(void *data, spanprof_frame *frames, size_t count) {
  (void)data, (void)frames, (void)count;
  deep_read++;
}

static pthread_t walk_thread;
static _Atomic uint64_t walks;

/* Counts only samples of the test's thread, because the threads of a sanitizer
 * are sampled, too. */
static size_t one_thread_walk(void *data, const spanprof_capture *capture,
                              spanprof_frame *frames, size_t max, int *cut) {
  walks += pthread_equal(pthread_self(), walk_thread) != 0;
  return deep_walk(data, capture, frames, max, cut);
}

static void excluded_threads_are_not_sampled(void) {
  sp_collector_config config = config_given();
  spanprof_runtime runtime = {.struct_size = sizeof runtime,
                              .name = "one thread",
                              .walk = one_thread_walk,
                              .resolve = deep_resolve};
  sp_collector *collector;

  walk_thread = pthread_self();
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  spanprof_thread_exclude(1);
  walks = 0;
  burn_cpu_ns(300 * SP_NS_PER_MS);
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  burn_cpu_ns(100 * SP_NS_PER_MS);
  CHECK_EQUAL(walks, 0);
  spanprof_thread_exclude(0);
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  burn_cpu_ns(100 * SP_NS_PER_MS);
  CHECK(walks > 0);
  collector_end(collector);
  spanprof_runtime_unregister();
}

static void a_full_ring_wakes_the_collector(void) {
  const size_t samples = 1500, room = 100;
  sp_collector_config config = config_given();
  spanprof_runtime runtime = {.struct_size = sizeof runtime,
                              .name = "deep",
                              .walk = deep_walk,
                              .resolve = deep_resolve,
                              .normalize = deep_normalize};
  sp_collector *collector;

  config.settings = still_settings();
  config.clock = &still_clock;
  CHECK_EQUAL(spanprof_runtime_register(&runtime), SPANPROF_OK);
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  deep_samples_take(deep_bottom(), samples, &deep_read, room);
  collector_end(collector);
  spanprof_runtime_unregister();
  CHECK_EQUAL(sp_counted(&sp_counts.samples_dropped_full), 0);
  check_whole_stacks(samples);
}

static _Atomic uint64_t still_unix_ns;

static uint64_t still_unix_read(void *data) {
  (void)data;
  return still_unix_ns;
}

/* Take a sample, end the window at `next_ns`, and return the time of this
 * window. */
static uint64_t window_time(sp_collector *collector, uint64_t next_ns) {
  uint64_t parts = emitted_parts;

  deep_samples_take(UINTPTR_MAX, 1, NULL, 0);
  still_unix_ns = next_ns;
  CHECK_EQUAL(sp_collector_flush(collector, UINT64_MAX), SPANPROF_OK);
  CHECK_EQUAL(emitted_parts, parts + 1);
  return emitted_last_ns;
}

static void window_times_are_unique_after_the_clock_is_set_back(void) {
  const uint64_t day_ns = 86400 * SP_NS_PER_S, noon_ns = 19000 * day_ns;
  sp_collector_config config = config_given();
  sp_clock clock = still_clock;
  uint64_t times[6];
  sp_collector *collector;
  size_t i, j;

  clock.unix_ns = still_unix_read;
  config.settings = still_settings();
  config.clock = &clock;
  still_unix_ns = noon_ns;
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  times[0] = window_time(collector, noon_ns);
  times[1] = window_time(collector, noon_ns + day_ns);
  times[2] = window_time(collector, noon_ns);
  times[3] = window_time(collector, noon_ns + day_ns);
  times[4] = window_time(collector, noon_ns);
  times[5] = window_time(collector, noon_ns);
  collector_end(collector);
  for (i = 0; i < SP_COUNT_OF(times); i++) {
    uint64_t set_ns = noon_ns + (i == 2 || i == 4 ? day_ns : 0);

    CHECK(times[i] >= set_ns && times[i] < set_ns + 1000);
    for (j = 0; j < i; j++)
      CHECK(times[i] != times[j]);
  }
}

static void deep_samples_emitted(long cores) {
  sp_collector_config config = config_given();
  sp_collector *collector;

  core_count = cores;
  config.settings = still_settings();
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  deep_samples_take(deep_bottom(), 5, NULL, 0);
  collector_end(collector);
  check_whole_stacks(5);
}

/* Each number of cores is tested in a child, because a process creates its ring
 * once. */
static void stacks_are_whole_with_two_cores_and_with_64(void) {
  static const long cores[] = {2, 16, 64};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cores); i++) {
    pid_t child = fork();
    int status;

    if (child == 0) {
      deep_samples_emitted(cores[i]);
      _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
}

static sem_t labels_logged, spans_logged;

static void log_refusals(void *data, spanprof_log_level level,
                         const char *message) {
  (void)data, (void)level;
  if (strncmp(message, "1 labels were refused", 21) == 0)
    sem_post(&labels_logged);
  if (strncmp(message, "1 spans were refused", 20) == 0)
    sem_post(&spans_logged);
}

static void refused_labels_and_spans_are_logged(void) {
  sp_collector_config config = config_given();
  spanprof_span_info info = {
      .struct_size = sizeof info, .name = "one too many", .name_bytes = 12};
  spanprof_label_token token;
  sp_collector *collector;
  failing_mem failing;
  spanprof_span span;
  int i;

  sem_init(&labels_logged, 0, 0);
  sem_init(&spans_logged, 0, 0);
  sp_log_init(&quiet_log, log_refusals, NULL, SPANPROF_LOG_WARN,
              sp_clock_system());
  failing_mem_init(&failing, 1);
  label_reset(&failing.mem);
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_start(NULL, &info, &span), SPANPROF_ERR_NOMEM);
  for (i = 0; i < 128; i++)
    CHECK_EQUAL(spanprof_label_push_bytes("k", 1, "v", 1, &token), SPANPROF_OK);
  CHECK_EQUAL(spanprof_label_push_bytes("k", 1, "v", 1, &token),
              SPANPROF_ERR_LIMIT);
  sem_wait(&labels_logged);
  sem_wait(&spans_logged);
  spanprof_labels_set(0);
  collector_end(collector);
  label_reset(NULL);
  CHECK_EQUAL(failing.live, 0);
}

static const check_test tests[] = {
    {"stacks_are_whole_with_two_cores_and_with_64",
     stacks_are_whole_with_two_cores_and_with_64},
    {"window_times_are_unique_after_the_clock_is_set_back",
     window_times_are_unique_after_the_clock_is_set_back},
    {"a_full_ring_wakes_the_collector", a_full_ring_wakes_the_collector},
    {"every_sample_taken_is_emitted_or_counted",
     every_sample_taken_is_emitted_or_counted},
    {"a_flush_ends_the_window_immediately",
     a_flush_ends_the_window_immediately},
    {"excluded_threads_are_not_sampled", excluded_threads_are_not_sampled},
    {"only_a_registration_unblocks_the_signal",
     only_a_registration_unblocks_the_signal},
    {"samples_lost_by_failed_allocations_are_counted",
     samples_lost_by_failed_allocations_are_counted},
    {"refused_labels_and_spans_are_logged",
     refused_labels_and_spans_are_logged},
};

int main(int argc, char **argv) {
  /* Register the thread, because the collector would find it late if it got
   * little CPU time. */
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
