#include "sampler/collector.h"

#include <pthread.h>
#include <signal.h>

#include "check.h"
#include "failing_mem.h"
#include "util/counters.h"

static uint64_t emitted_parts, emitted_samples, emitted_ticks, emitted_last_ns;

static void part_take(void *data, sp_encoded *part) {
  (void)data;
  emitted_parts++;
  emitted_samples += part->samples;
  emitted_ticks += part->ticks;
  CHECK(part->time_ns > emitted_last_ns);
  emitted_last_ns = part->time_ns;
  sp_encoded_dispose(part);
}

static sp_log quiet_log;

static const sp_settings collector_settings = {
    .application_name = (char *)"collector",
    .sample_rate_hz = 1000,
    .native_frames = true,
    .upload_interval_ns = 3600 * SP_NS_PER_S,
    .span_names_max = 500,
    .label_values_max = 1024,
};

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
                               .emit = part_take};
}

static void burn_cpu_ns(uint64_t ns) {
  uint64_t until = sp_thread_cpu_ns() + ns;

  while (sp_thread_cpu_ns() < until)
    ;
}

static void every_sample_taken_is_emitted_or_counted(void) {
  sp_collector_config config = config_given();
  sp_collector *collector;
  uint64_t dropped;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  burn_cpu_ns(300 * SP_NS_PER_MS);
  sp_collector_stop(collector);
  dropped = sp_counted(&sp_counts.samples_dropped_busy) +
            sp_counted(&sp_counts.samples_dropped_full) +
            sp_counted(&sp_counts.samples_dropped_stop);
  CHECK(emitted_samples > 0);
  CHECK_EQUAL(emitted_samples + dropped, sp_counted(&sp_counts.samples_taken));
  CHECK_EQUAL(emitted_ticks + sp_counted(&sp_counts.ticks_dropped),
              sp_counted(&sp_counts.ticks_taken));
}

static void a_flush_ends_the_window_at_once(void) {
  sp_collector_config config = config_given();
  uint64_t minute_ns = 60 * SP_NS_PER_S;
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
  }
  CHECK_EQUAL(sp_collector_flush(collector, 0), SPANPROF_ERR_TIMEOUT);
  sp_collector_stop(collector);
}

static void excluded_threads_are_not_sampled(void) {
  sp_collector_config config = config_given();
  sp_collector *collector;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  spanprof_thread_exclude(1);
  sp_counters_reset();
  burn_cpu_ns(300 * SP_NS_PER_MS);
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  burn_cpu_ns(100 * SP_NS_PER_MS);
  CHECK_EQUAL(sp_counted(&sp_counts.samples_taken), 0);
  spanprof_thread_exclude(0);
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  burn_cpu_ns(100 * SP_NS_PER_MS);
  CHECK(sp_counted(&sp_counts.samples_taken) > 0);
  sp_collector_stop(collector);
}

static bool signal_is_blocked(int number) {
  sigset_t mask;

  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  return sigismember(&mask, number);
}

/* A daemon's thread: what it masks stays masked, unless it registers. */
static void *mask_and_register(void *data) {
  int number = *(int *)data;
  spanprof_label_token token;
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  CHECK_EQUAL(spanprof_label_push("job", 3, "1", 1, &token), SPANPROF_OK);
  spanprof_label_pop(token);
  CHECK(signal_is_blocked(number));
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  CHECK(!signal_is_blocked(number));
  CHECK(signal_is_blocked(SIGUSR1));
  return NULL;
}

static void only_registering_lets_the_signal_through(void) {
  sp_collector_config config = config_given();
  sp_collector *collector;
  pthread_t thread;
  int number;

  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  number = sp_collector_signal(collector);
  CHECK_EQUAL(pthread_create(&thread, NULL, mask_and_register, &number), 0);
  pthread_join(thread, NULL);
  sp_collector_stop(collector);
}

static void start_and_sample(const sp_mem *mem) {
  sp_collector_config config = config_given();
  sp_collector *collector;

  if (sp_collector_start(&collector, mem, &config) != SPANPROF_OK) {
    CHECK(collector == NULL);
    return;
  }
  burn_cpu_ns(8 * SP_NS_PER_MS);
  sp_collector_stop(collector);
  CHECK_EQUAL(emitted_ticks + sp_counted(&sp_counts.ticks_dropped),
              sp_counted(&sp_counts.ticks_taken));
}

/* How many requests a run makes depends on the samples it happens to take, so
 * the sweep has an end of its own. */
static void no_failed_allocation_loses_a_sample_uncounted(void) {
  size_t n;

  for (n = 1; n <= 150; n++) {
    failing_mem failing;

    failing_mem_init(&failing, n);
    start_and_sample(&failing.mem);
    CHECK_EQUAL(failing.live, 0);
  }
}

static const check_test tests[] = {
    {"every_sample_taken_is_emitted_or_counted",
     every_sample_taken_is_emitted_or_counted},
    {"a_flush_ends_the_window_at_once", a_flush_ends_the_window_at_once},
    {"excluded_threads_are_not_sampled", excluded_threads_are_not_sampled},
    {"only_registering_lets_the_signal_through",
     only_registering_lets_the_signal_through},
    {"no_failed_allocation_loses_a_sample_uncounted",
     no_failed_allocation_loses_a_sample_uncounted},
};

int main(int argc, char **argv) {
  /* Found at once, however little time the collector gets beside it. */
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
