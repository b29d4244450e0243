#include "collect/collector_recordings.h"

#include <semaphore.h>

#include "burn.h"
#include "check.h"
#include "collector_settings.h"
#include "util/counters.h"

#define MINUTE_NS (60 * SP_NS_PER_S)

static sem_t emitting, emitted;

/* On the collector's thread: it is busy with a window until the test says. */
static void part_hold(void *data, sp_encoded *part) {
  (void)data;
  sp_encoded_dispose(part);
  sem_post(&emitting);
  sem_wait(&emitted);
}

static void *window_flush(void *data) {
  CHECK_EQUAL(sp_collector_flush(data, sp_monotonic_ns() + MINUTE_NS),
              SPANPROF_OK);
  return NULL;
}

static void *window_let_go(void *data) {
  (void)data;
  usleep(100000);
  sem_post(&emitted);
  return NULL;
}

/* A thread that is being made has every signal blocked. */
static uint64_t samples_kept(void) {
  return sp_counted(&sp_counts.samples_taken) -
         sp_counted(&sp_counts.samples_dropped_blocked);
}

/* Fails where the timers do not come at all. */
static void burn_until_sampled(void) {
  const uint64_t before = samples_kept();
  int i;

  for (i = 0; i < 1000 && samples_kept() == before; i++)
    burn_cpu_ms(20);
  CHECK(samples_kept() > before);
}

static void what_is_sampled_after_the_wait_is_in_it(void) {
  const sp_recording_config everything = {.duration_ns = UINT64_MAX};
  sp_log log;
  const sp_collector_config config = {.settings = &collector_settings,
                                      .clock = sp_clock_system(),
                                      .log = &log,
                                      .emit = part_hold};
  sp_collector *collector;
  pthread_t flush, let_go;
  sp_encoded profile;
  sp_recording *recording;

  sem_init(&emitting, 0, 0);
  sem_init(&emitted, 0, 0);
  sp_log_init(&log, NULL, NULL, SPANPROF_LOG_OFF, config.clock);
  sp_counters_reset();
  CHECK_EQUAL(sp_collector_start(&collector, &sp_mem_default, &config),
              SPANPROF_OK);
  burn_until_sampled();
  CHECK_EQUAL(pthread_create(&flush, NULL, window_flush, collector), 0);
  sem_wait(&emitting);
  CHECK_EQUAL(sp_recording_new(&recording, &sp_mem_default, &everything),
              SPANPROF_OK);
  CHECK_EQUAL(sp_collector_record(collector, recording), SPANPROF_OK);
  sp_recording_wait_begun(recording, config.clock,
                          sp_monotonic_ns() + 10 * SP_NS_PER_MS);
  CHECK(!recording->begun);
  CHECK_EQUAL(pthread_create(&let_go, NULL, window_let_go, NULL), 0);
  sp_recording_wait_begun(recording, config.clock,
                          sp_monotonic_ns() + MINUTE_NS);
  burn_until_sampled();
  sem_post(&emitted);
  sp_collector_halt(collector);
  CHECK_EQUAL(sp_collector_stop(collector, UINT64_MAX), SPANPROF_OK);
  CHECK_EQUAL(sp_recording_wait(recording, config.clock,
                                sp_monotonic_ns() + MINUTE_NS, &profile),
              SPANPROF_OK);
  CHECK(profile.samples > 0);
  pthread_join(flush, NULL);
  pthread_join(let_go, NULL);
  sp_encoded_dispose(&profile);
  sp_recording_release(recording);
}

static const check_test tests[] = {
    {"what_is_sampled_after_the_wait_is_in_it",
     what_is_sampled_after_the_wait_is_in_it},
};

int main(int argc, char **argv) {
  /* Found at once, however little time the collector gets beside it. */
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
