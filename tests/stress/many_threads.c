/* Threads that nobody registers are found: 200 within 200 ms, 5,000 within 1 s.
 * What was measured is printed; a loaded machine gets more time. */
#include "stress_run.h"

#define MANY_SLACK_NS (20 * STRESS_NS_PER_S)
#define MANY_THREADS  (STRESS_TSAN || STRESS_ASAN ? 500 : 5000)

static pthread_t threads[MANY_THREADS];
static _Atomic bool many_over;
static pthread_mutex_t many_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t many_wake = PTHREAD_COND_INITIALIZER;

static void *sleeper_run(void *data) {
  pthread_mutex_lock(&many_lock);
  while (!atomic_load(&many_over))
    pthread_cond_wait(&many_wake, &many_lock);
  pthread_mutex_unlock(&many_lock);
  return data;
}

static void threads_make(unsigned from, unsigned to) {
  pthread_attr_t attributes;
  unsigned i;

  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  for (i = from; i < to; i++)
    STRESS_REQUIRE(
        pthread_create(&threads[i], &attributes, sleeper_run, NULL) == 0,
        "thread %u cannot be made", i);
  pthread_attr_destroy(&attributes);
}

/* How long until all are profiled, after the last was made. */
static void covered_wait(unsigned count) {
  uint64_t start_ns = stress_now_ns(), cpu_ns = stress_stats().collector_cpu_ns;
  spanprof_stats stats;

  do {
    stress_sleep_ms(2);
    stats = stress_stats();
  } while (stats.threads_profiled < count &&
           stress_now_ns() - start_ns < MANY_SLACK_NS);
  printf("%u threads covered %.0f ms after the last began (collector: %.1f ms "
         "of CPU)\n",
         count, (double)(stress_now_ns() - start_ns) / 1e6,
         (double)(stats.collector_cpu_ns - cpu_ns) / 1e6);
  STRESS_REQUIRE(stats.threads_profiled >= count, "only %llu of %u threads",
                 (unsigned long long)stats.threads_profiled, count);
}

int main(void) {
  static stress_run run;
  uint64_t cpu_ns;
  unsigned i;

  stress_begin();
  stress_run_init(&run, "many_threads");
  stress_run_start(&run);
  threads_make(0, 200);
  covered_wait(200);
  threads_make(200, MANY_THREADS);
  covered_wait(MANY_THREADS);
  cpu_ns = stress_stats().collector_cpu_ns;
  stress_sleep_ms(stress_seconds() * 500);
  printf("collector beside %d sleeping threads: %.2f %% of a core\n",
         MANY_THREADS,
         (double)(stress_stats().collector_cpu_ns - cpu_ns) /
             (stress_seconds() * 5e6));
  atomic_store(&many_over, true);
  pthread_mutex_lock(&many_lock);
  pthread_cond_broadcast(&many_wake);
  pthread_mutex_unlock(&many_lock);
  for (i = 0; i < MANY_THREADS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  stress_run_tell(&run);
  stress_run_dispose(&run);
  return 0;
}
