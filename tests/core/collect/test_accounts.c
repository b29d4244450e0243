/* Compares the statistics of a running session with the profiles that the
 * callback on_profile receives: each sample is counted once, and no sample is
 * pending after a flush. */
#include <spanprof/spanprof.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

#define THREADS  3
#define FLUSHES  8
#define LOOKS    20
#define LOOK_US  10000
#define FLUSH_MS 20000

static atomic_ullong received_samples;
static atomic_bool finished;

static void receive(void *data, const spanprof_profile *profile) {
  (void)data;
  atomic_fetch_add(&received_samples, profile->samples);
}

static void *burn(void *data) {
  (void)data;
  while (!atomic_load(&finished))
    ;
  return NULL;
}

static spanprof_stats stats_now(void) {
  spanprof_stats stats = {.struct_size = sizeof stats};

  CHECK_EQUAL(spanprof_stats_get(&stats), SPANPROF_OK);
  return stats;
}

static uint64_t dropped(const spanprof_stats *stats) {
  return stats->samples_dropped_full + stats->samples_dropped_memory +
         stats->samples_dropped_export + stats->samples_dropped_stop;
}

/* The statistics never report more exported samples than the callback has
 * received. spanprof_stats_get() reads the counters one by one, so samples that
 * are counted during the call may be missing from a sum of counters. */
static void counts_check(void) {
  spanprof_stats stats = stats_now();
  uint64_t counted = stats.samples_exported + dropped(&stats);

  CHECK(stats.samples_exported <= atomic_load(&received_samples));
  CHECK(counted + stats.samples_pending >= stats.samples_taken);
  CHECK(stats.samples_pending <= stats.samples_taken);
}

static void counts_are_consistent_while_a_session_runs(void) {
  spanprof_options options;
  spanprof_session *session;
  pthread_t threads[THREADS];
  spanprof_stats before, after;
  int i, look;

  CHECK_EQUAL(spanprof_options_init(&options, sizeof options), SPANPROF_OK);
  options.application_name = "accounts";
  options.sample_rate_hz = 1000;
  options.upload_interval_ms = 100;
  options.on_profile = receive;
  CHECK_EQUAL(spanprof_session_start(&options, &session), SPANPROF_OK);
  for (i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, burn, NULL));
  for (i = 0; i < FLUSHES; i++) {
    for (look = 0; look < LOOKS; look++) {
      counts_check();
      usleep(LOOK_US);
    }
    before = stats_now();
    CHECK_EQUAL(spanprof_session_flush(session, FLUSH_MS), SPANPROF_OK);
    after = stats_now();
    CHECK(atomic_load(&received_samples) + dropped(&after) >=
          before.samples_taken);
  }
  atomic_store(&finished, true);
  for (i = 0; i < THREADS; i++)
    CHECK(!pthread_join(threads[i], NULL));
  CHECK_EQUAL(spanprof_session_stop(session, FLUSH_MS), SPANPROF_OK);
  after = stats_now();
  CHECK(after.samples_taken > 0);
  CHECK_EQUAL(after.samples_pending, 0);
  CHECK_EQUAL(after.samples_exported, atomic_load(&received_samples));
  CHECK_EQUAL(after.samples_taken, after.samples_exported + dropped(&after));
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"counts_are_consistent_while_a_session_runs",
       counts_are_consistent_while_a_session_runs},
  };

  return check_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
