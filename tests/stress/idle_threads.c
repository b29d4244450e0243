/* Measures the CPU time that the collector uses per second while there are
 * 4,000 idle threads. It is measured without other threads, and with
 * unregistered threads that start, work for a moment and end. The collector has
 * to look up the stacks of the latter in the memory map. This costs about as
 * much again, whatever the number of threads. */
#include "stress_run.h"

#define IDLE_THREADS     (STRESS_TSAN || STRESS_ASAN ? 500 : 4000)
#define IDLE_STACK_BYTES (128 * 1024)
#define IDLE_SHORT_MS    250 /* interval between the starts of short threads */
#define IDLE_BURN_NS     (40 * STRESS_NS_PER_MS)

static pthread_t threads[IDLE_THREADS];
static bool idle_over;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle_wake = PTHREAD_COND_INITIALIZER;

static void *idle_run(void *data) {
  pthread_mutex_lock(&idle_lock);
  while (!idle_over)
    pthread_cond_wait(&idle_wake, &idle_lock);
  pthread_mutex_unlock(&idle_lock);
  return data;
}

static void *short_run(void *data) {
  stress_burn(IDLE_BURN_NS);
  /* Wait until a scan has found this thread, so that the work below is sampled.
   */
  stress_sleep_ms(1000);
  stress_burn(IDLE_BURN_NS);
  return data;
}

static void thread_new(pthread_t *out, void *(*run)(void *)) {
  pthread_attr_t attributes;

  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, IDLE_STACK_BYTES);
  STRESS_REQUIRE(pthread_create(out, &attributes, run, NULL) == 0,
                 "a thread cannot be made");
  pthread_attr_destroy(&attributes);
}

static void short_new(void) {
  pthread_t thread;

  thread_new(&thread, short_run);
  pthread_detach(thread);
}

static void profiled_wait(uint64_t count) {
  uint64_t until_ns = stress_now_ns() + 30 * STRESS_NS_PER_S;

  while (stress_stats().threads_profiled < count)
    STRESS_REQUIRE(stress_now_ns() < until_ns, "%llu of %llu threads are found",
                   (unsigned long long)stress_stats().threads_profiled,
                   (unsigned long long)count);
}

/* Returns the CPU time of the collector in ms per second. */
static double collector_cost(bool with_short) {
  uint64_t start_ns = stress_now_ns(), cpu_ns = stress_stats().collector_cpu_ns;
  unsigned left_ms = stress_seconds() * 1000;

  for (; left_ms >= IDLE_SHORT_MS; left_ms -= IDLE_SHORT_MS) {
    if (with_short)
      short_new();
    stress_sleep_ms(IDLE_SHORT_MS);
  }
  return (double)(stress_stats().collector_cpu_ns - cpu_ns) * 1e3 /
         (double)(stress_now_ns() - start_ns);
}

int main(void) {
  double alone, with_short;
  static stress_run run;
  unsigned i;

  stress_begin();
  stress_run_init(&run, "idle_threads");
  stress_run_start(&run);
  for (i = 0; i < IDLE_THREADS; i++)
    thread_new(&threads[i], idle_run);
  profiled_wait(IDLE_THREADS);
  alone = collector_cost(false);
  with_short = collector_cost(true);
  printf("collector with %d idle threads: %.1f ms/s, with four short threads "
         "a second %.1f ms/s\n",
         IDLE_THREADS, alone, with_short);
  /* If the collector read the whole memory map for each short thread, it would
   * use ten times as much CPU time. */
  STRESS_REQUIRE(STRESS_TSAN || STRESS_ASAN || with_short <= 3 * alone + 10,
                 "the collector needs too much CPU time for short threads");
  pthread_mutex_lock(&idle_lock);
  idle_over = true;
  pthread_cond_broadcast(&idle_wake);
  pthread_mutex_unlock(&idle_lock);
  for (i = 0; i < IDLE_THREADS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  stress_run_print(&run);
  stress_run_dispose(&run);
  return 0;
}
