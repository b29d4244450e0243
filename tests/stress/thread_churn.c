/* 20,000 threads start and end; half of them are registered. RLIMIT_SIGPENDING,
 * which also limits the number of timers, is 1,000. Every timer is released,
 * the library uses at most half of the limit, and threads without a timer are
 * counted. */
#include "stress_run.h"

#include <sys/resource.h>

#define CHURN_THREADS  (STRESS_TSAN || STRESS_ASAN ? 2000 : 20000)
#define CHURN_TOGETHER 100
/* more than half of the limit */
#define CHURN_CROWD (STRESS_TSAN ? 100 : 700)

static _Atomic bool crowd_over;

static void *churn_run(void *data) {
  if ((uintptr_t)data % 2)
    spanprof_thread_register();
  stress_burn(100 * STRESS_NS_PER_US);
  return NULL;
}

static void *crowd_run(void *data) {
  (void)data;
  while (!atomic_load(&crowd_over))
    stress_sleep_ms(20);
  return NULL;
}

static void thread_new(pthread_t *out, void *(*run)(void *), uintptr_t number) {
  pthread_attr_t attributes;

  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  STRESS_REQUIRE(pthread_create(out, &attributes, run, (void *)number) == 0,
                 "thread %zu cannot be made", (size_t)number);
  pthread_attr_destroy(&attributes);
}

static void churn(void) {
  pthread_t threads[CHURN_TOGETHER];
  uintptr_t made = 0, i;

  while (made < CHURN_THREADS) {
    for (i = 0; i < CHURN_TOGETHER; i++)
      thread_new(&threads[i], churn_run, made++);
    for (i = 0; i < CHURN_TOGETHER; i++)
      pthread_join(threads[i], NULL);
  }
}

/* Start more threads than the library may have timers. Threads without a timer
 * are counted as unprofiled. */
static void crowd(void) {
  static pthread_t threads[CHURN_CROWD];
  uint64_t until_ns = stress_now_ns() + 20 * STRESS_NS_PER_S;
  spanprof_stats stats;
  uintptr_t i;

  for (i = 0; i < CHURN_CROWD; i++)
    thread_new(&threads[i], crowd_run, i);
  do {
    stress_sleep_ms(20);
    stats = stress_stats();
  } while (stats.threads_profiled + stats.threads_unprofiled < CHURN_CROWD &&
           stress_now_ns() < until_ns);
  printf("of %d threads %llu are profiled, %llu are not; ", CHURN_CROWD,
         (unsigned long long)stats.threads_profiled,
         (unsigned long long)stats.threads_unprofiled);
  STRESS_REQUIRE(stats.threads_profiled + stats.threads_unprofiled >=
                     CHURN_CROWD,
                 "the library does not count all threads");
  STRESS_REQUIRE(stats.threads_profiled <= 500,
                 "more than half of RLIMIT_SIGPENDING is used");
  if (CHURN_CROWD > 500)
    STRESS_REQUIRE(stats.threads_unprofiled > 0,
                   "no thread counts as unprofiled");
  atomic_store(&crowd_over, true);
  for (i = 0; i < CHURN_CROWD; i++)
    pthread_join(threads[i], NULL);
}

/* Wait until a scan has noticed that the threads have ended. */
static void end_wait(void) {
  uint64_t until_ns = stress_now_ns() + 20 * STRESS_NS_PER_S;
  spanprof_stats stats;

  do {
    stress_sleep_ms(20);
    stats = stress_stats();
  } while (stats.threads_profiled + stats.threads_unprofiled > 1 &&
           stress_now_ns() < until_ns);
  /* ThreadSanitizer has one more thread. */
  STRESS_REQUIRE(
      stats.threads_profiled + stats.threads_unprofiled <= 1 + STRESS_TSAN,
      "%llu threads stay profiled", (unsigned long long)stats.threads_profiled);
}

int main(void) {
  struct rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
  uint64_t until_ns = stress_begin();
  static stress_run run;
  unsigned rounds = 0;

  STRESS_REQUIRE(setrlimit(RLIMIT_SIGPENDING, &limit) == 0,
                 "RLIMIT_SIGPENDING cannot be set");
  stress_run_init(&run, "thread_churn");
  run.options.sample_rate_hz = 1000;
  stress_run_start(&run);
  do {
    churn();
    rounds++;
  } while (stress_now_ns() < until_ns);
  crowd();
  end_wait();
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(run.stats.threads_seen >= CHURN_THREADS / 2,
                 "the registered threads were not seen");
  printf("%u threads; ", rounds * CHURN_THREADS);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
