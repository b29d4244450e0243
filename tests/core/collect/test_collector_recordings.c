#include "collect/collector_recordings.h"

#include <semaphore.h>

#include "burn.h"
#include "check.h"
#include "collector_settings.h"
#include "util/system/counters.h"

#define MINUTE_NS (60 * SP_NS_PER_S)

static sem_t emitting, emitted;

/* Runs on the collector thread at the end of a window, and keeps this thread
 * busy until the test releases it. */
static void part_block(void *data, sp_encoded *part) {
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

static void *window_release(void *data) {
  (void)data;
  usleep(100000);
  sem_post(&emitted);
  return NULL;
}

static uint64_t samples_taken(void) {
  return sp_counted(&sp_counts.samples_taken);
}

/* Use CPU time until a sample is taken, at most 20 s. */
static void burn_until_sampled(void) {
  const uint64_t before = samples_taken();
  int i;

  for (i = 0; i < 1000 && samples_taken() == before; i++)
    burn_cpu_ms(20);
  CHECK(samples_taken() > before);
}

/* A collector whose thread is busy with the end of a window until
 * busy_release(). */
typedef struct busy {
  sp_log log;
  sp_collector_config config;
  sp_collector *collector;
  pthread_t flush, release;
} busy;

static void busy_begin(busy *on) {
  on->config = (sp_collector_config){.settings = &collector_settings,
                                     .clock = sp_clock_system(),
                                     .log = &on->log,
                                     .emit = part_block};
  sem_init(&emitting, 0, 0);
  sem_init(&emitted, 0, 0);
  sp_log_init(&on->log, NULL, NULL, SPANPROF_LOG_OFF, on->config.clock);
  sp_counters_reset();
  CHECK_EQUAL(sp_collector_start(&on->collector, &sp_mem_default, &on->config),
              SPANPROF_OK);
  burn_until_sampled();
  CHECK_EQUAL(pthread_create(&on->flush, NULL, window_flush, on->collector), 0);
  sem_wait(&emitting);
}

static void busy_release(busy *on) {
  CHECK_EQUAL(pthread_create(&on->release, NULL, window_release, NULL), 0);
}

static void busy_end(busy *on) {
  sem_post(&emitted);
  sp_collector_halt(on->collector);
  CHECK_EQUAL(sp_collector_stop(on->collector, UINT64_MAX), SPANPROF_OK);
  pthread_join(on->flush, NULL);
  pthread_join(on->release, NULL);
}

static sp_recording *recording_ask(const busy *on,
                                   spanprof_recording_scope scope) {
  const sp_recording_config config = {.selection = {.scope = scope},
                                      .duration_ns = UINT64_MAX};
  sp_recording *recording;

  CHECK_EQUAL(sp_recording_new(&recording, &sp_mem_default, &config),
              SPANPROF_OK);
  CHECK_EQUAL(sp_collector_record(on->collector, recording), SPANPROF_OK);
  return recording;
}

static uint64_t recording_samples(const busy *on, sp_recording *recording) {
  sp_encoded profile;
  uint64_t samples;

  CHECK_EQUAL(sp_recording_wait(recording, on->config.clock,
                                sp_monotonic_ns() + MINUTE_NS, &profile),
              SPANPROF_OK);
  samples = profile.samples;
  sp_encoded_dispose(&profile);
  sp_recording_release(recording);
  return samples;
}

static void a_recording_has_the_samples_after_the_wait(void) {
  sp_recording *recording;
  busy on;

  busy_begin(&on);
  recording = recording_ask(&on, SPANPROF_RECORDING_ALL);
  sp_recording_wait_begun(recording, on.config.clock,
                          sp_monotonic_ns() + 10 * SP_NS_PER_MS);
  CHECK(!recording->begun);
  busy_release(&on);
  sp_recording_wait_begun(recording, on.config.clock,
                          sp_monotonic_ns() + MINUTE_NS);
  burn_until_sampled();
  busy_end(&on);
  CHECK(recording_samples(&on, recording) > 0);
}

/* The collector is busy while the marked samples are taken, but it misses none
 * of them, because they wait in the ring. */
static void a_recording_has_the_samples_with_its_mark(void) {
  sp_recording *outer, *inner;
  uint64_t before, middle, after, samples;
  busy on;

  busy_begin(&on);
  outer = recording_ask(&on, SPANPROF_RECORDING_MARK);
  inner = recording_ask(&on, SPANPROF_RECORDING_MARK);
  before = samples_taken();
  spanprof_mark_set(outer->config.selection.mark);
  burn_until_sampled();
  spanprof_mark_set(inner->config.selection.mark);
  middle = samples_taken();
  burn_until_sampled();
  spanprof_mark_set(0);
  after = samples_taken();
  sp_recording_stop(outer);
  sp_recording_stop(inner);
  busy_release(&on);
  samples = recording_samples(&on, outer);
  /* The numbers may differ by one or two, because a sample may be taken between
   * a change of the mark and the count next to it. */
  CHECK(samples + 2 >= middle - before && samples <= middle - before + 1);
  samples = recording_samples(&on, inner);
  CHECK(samples + 2 >= after - middle && samples <= after - middle + 1);
  busy_end(&on);
}

static const check_test tests[] = {
    {"a_recording_has_the_samples_after_the_wait",
     a_recording_has_the_samples_after_the_wait},
    {"a_recording_has_the_samples_with_its_mark",
     a_recording_has_the_samples_with_its_mark},
};

int main(int argc, char **argv) {
  /* Register the thread, because the collector would find it late if it got
   * little CPU time. */
  CHECK_EQUAL(spanprof_thread_register(), SPANPROF_OK);
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
