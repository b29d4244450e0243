/* The collector finds 200 unregistered threads within 200 ms, and 5,000 within
 * 1 s. On a busy machine the collector runs late, as any thread does. A thread
 * that alternately sleeps and works measures by how much threads are late, and
 * the limits are extended accordingly. */
#include "stress_run.h"

#define MANY_THREADS (STRESS_TSAN || STRESS_ASAN ? 500 : 5000)
/* The main thread and the measuring thread. */
#define MANY_OTHERS   (2 + STRESS_TSAN)
#define MANY_GIVEN_UP (60 * STRESS_NS_PER_S)
#define MANY_SLEEP_MS 18
#define MANY_BURN_NS  (2 * STRESS_NS_PER_MS)
/* Number of times per scan that the collector or the main thread sleeps and
 * wakes up. */
#define MANY_LATE_MOST 4

static pthread_t threads[MANY_THREADS];
static _Atomic bool many_over;
static pthread_mutex_t many_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t many_wake = PTHREAD_COND_INITIALIZER;

/* maximum delay of the measuring thread so far */
static _Atomic uint64_t many_late_ns;

static void *lateness_run(void *data) {
  while (!atomic_load(&many_over)) {
    uint64_t start_ns = stress_now_ns(), duration_ns, late_ns;

    stress_sleep_ms(MANY_SLEEP_MS);
    stress_burn(MANY_BURN_NS);
    duration_ns = stress_now_ns() - start_ns;
    late_ns = duration_ns - MANY_SLEEP_MS * STRESS_NS_PER_MS - MANY_BURN_NS;
    if (duration_ns > MANY_SLEEP_MS * STRESS_NS_PER_MS + MANY_BURN_NS &&
        late_ns > many_late_ns)
      many_late_ns = late_ns;
  }
  return data;
}

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

typedef struct many_cover {
  unsigned threads;
  uint64_t promised_ns;
  /* Time from the creation of the last thread until all threads were profiled.
   */
  uint64_t duration_ns;
  uint64_t collector_cpu_ns;
} many_cover;

/* Returns the number of threads that were found. ThreadSanitizer's own thread
 * blocks signals; the library detects this when that thread has used some CPU
 * time. */
static uint64_t covered(const spanprof_stats *stats) {
  return stats->threads_profiled + (STRESS_TSAN ? stats->threads_blocked : 0);
}

static void covered_wait(many_cover *cover) {
  uint64_t start_ns = stress_now_ns(), cpu_ns = stress_stats().collector_cpu_ns;
  const unsigned all = cover->threads + MANY_OTHERS;
  spanprof_stats stats;

  do {
    stress_sleep_ms(2);
    stats = stress_stats();
    cover->duration_ns = stress_now_ns() - start_ns;
    /* The number may also be too high, because a scan has to notice the ends of
     * joined threads. */
  } while (covered(&stats) != all && cover->duration_ns < MANY_GIVEN_UP);
  cover->collector_cpu_ns = stats.collector_cpu_ns - cpu_ns;
  STRESS_REQUIRE(covered(&stats) == all, "%llu of %u threads, %llu blocked",
                 (unsigned long long)stats.threads_profiled, all,
                 (unsigned long long)stats.threads_blocked);
}

static void cover_check(const many_cover *cover) {
  /* Time for which the collector waits for a processor, after its sleeps and
   * while it works. */
  uint64_t others_ns = MANY_LATE_MOST * many_late_ns +
                       cover->collector_cpu_ns * many_late_ns / MANY_BURN_NS;

  printf("%u threads covered %.0f ms after the last began (collector: %.1f ms "
         "of CPU), of %.0f ms promised and %.0f ms for others\n",
         cover->threads, (double)cover->duration_ns / 1e6,
         (double)cover->collector_cpu_ns / 1e6,
         (double)cover->promised_ns / 1e6, (double)others_ns / 1e6);
  STRESS_REQUIRE(STRESS_TSAN || STRESS_ASAN ||
                     cover->duration_ns <= cover->promised_ns + others_ns,
                 "%u threads were found late", cover->threads);
}

int main(void) {
  many_cover few = {.threads = 200, .promised_ns = 200 * STRESS_NS_PER_MS};
  many_cover many = {.threads = MANY_THREADS, .promised_ns = STRESS_NS_PER_S};
  static stress_run run;
  pthread_t lateness;
  uint64_t cpu_ns;
  unsigned i;

  stress_begin();
  stress_run_init(&run, "many_threads");
  stress_run_start(&run);
  pthread_create(&lateness, NULL, lateness_run, NULL);
  threads_make(0, 200);
  covered_wait(&few);
  threads_make(200, MANY_THREADS);
  covered_wait(&many);
  cpu_ns = stress_stats().collector_cpu_ns;
  stress_sleep_ms(stress_seconds() * 500);
  printf("collector with %d sleeping threads: %.2f %% of a core\n",
         MANY_THREADS,
         (double)(stress_stats().collector_cpu_ns - cpu_ns) /
             (stress_seconds() * 5e6));
  atomic_store(&many_over, true);
  pthread_mutex_lock(&many_lock);
  pthread_cond_broadcast(&many_wake);
  pthread_mutex_unlock(&many_lock);
  for (i = 0; i < MANY_THREADS; i++)
    pthread_join(threads[i], NULL);
  pthread_join(lateness, NULL);
  cover_check(&few);
  cover_check(&many);
  stress_run_stop(&run, 5000);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
