/* While threads start and end, push labels and work in spans, every sample that
 * was taken is delivered or counted as dropped, without exception. The program
 * uses CPU clocks first, where the ticks must equal the CPU time used, and then
 * a wall clock, whose samples fill the ring. */
#include "stress_run.h"

#include <math.h>

#define EXACT_THREADS (STRESS_TSAN ? 3 : 4)
#define EXACT_HZ      1000

typedef struct exact_worker {
  pthread_t thread;
  uint64_t until_ns;
  unsigned number;
} exact_worker;

/* CPU time and number of all threads that have ended in this session. */
static _Atomic uint64_t exact_cpu_ns, exact_threads;

static void thread_book(void) {
  atomic_fetch_add(&exact_cpu_ns, stress_thread_cpu_ns());
  atomic_fetch_add(&exact_threads, 1);
}

static void *short_work(void *data) {
  (void)data;
  spanprof_thread_register();
  stress_burn(3 * STRESS_NS_PER_MS);
  thread_book();
  return NULL;
}

static void work_once(unsigned number, uint64_t *random) {
  spanprof_label_token label;
  spanprof_span_token token;
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED};
  spanprof_span span;
  char value[16];

  snprintf(value, sizeof value, "%u", stress_random(random) % 20);
  info.name = number % 2 ? "odd" : "even";
  info.name_bytes = strlen(info.name);
  STRESS_OK(spanprof_label_push_bytes("step", 4, value, strlen(value), &label));
  STRESS_OK(spanprof_span_start(NULL, &info, &span));
  STRESS_OK(spanprof_span_enter(span, &token));
  stress_burn(STRESS_NS_PER_MS);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  spanprof_label_pop(label);
}

static void *worker_run(void *data) {
  exact_worker *worker = data;
  uint64_t random = worker->number;
  unsigned i;

  spanprof_thread_register();
  for (i = 0; stress_now_ns() < worker->until_ns; i++) {
    pthread_t thread;

    work_once(worker->number, &random);
    if (i % 16 == 0 && pthread_create(&thread, NULL, short_work, NULL) == 0)
      pthread_join(thread, NULL);
  }
  thread_book();
  return NULL;
}

/* Returns the maximum deviation of the ticks from the CPU time, which chance
 * exceeds once in a million runs. The time of each thread is rounded to ticks
 * (Hoeffding's inequality: sqrt(log(2e6) / 2) for independent roundings), and a
 * thread uses some CPU time before it registers. A host may also pause the
 * machine for longer than the kernel's tick, and a thread's clock counts this
 * time. */
static double noise_s(uint64_t threads) {
  return 2.7 * sqrt((double)threads) / EXACT_HZ + (double)threads * 0.0002 +
         0.06;
}

static void ticks_compare(const stress_run *run, uint64_t main_cpu_ns) {
  double used = (double)(exact_cpu_ns + main_cpu_ns) / 1e9;
  double charged = (double)run->stats.ticks_taken / EXACT_HZ;
  double noise = noise_s(exact_threads + 1);

  printf("%.3f s of CPU used by %llu threads, %.3f s charged, %.3f s apart by "
         "chance; ",
         used, (unsigned long long)exact_threads, charged, noise);
  /* ThreadSanitizer delivers signals late, and a thread may end before its last
   * signals are delivered. */
  STRESS_REQUIRE(STRESS_TSAN || fabs(charged - used) <= noise,
                 "charged %.3f s for %.3f s", charged, used);
}

static void session_try(const char *title, bool cpu_clocks, uint64_t for_ns) {
  exact_worker workers[EXACT_THREADS];
  uint64_t until_ns = stress_now_ns() + for_ns, main_cpu_ns;
  static stress_run run;
  unsigned i;

  exact_cpu_ns = exact_threads = 0;
  stress_run_init(&run, "exact");
  run.options.sample_rate_hz = EXACT_HZ;
  stress_run_start(&run);
  spanprof_thread_register();
  main_cpu_ns = stress_thread_cpu_ns();
  for (i = 0; i < EXACT_THREADS; i++) {
    workers[i] = (exact_worker){.until_ns = until_ns, .number = i};
    STRESS_REQUIRE(
        pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) == 0,
        "no thread");
  }
  while (stress_now_ns() < until_ns) {
    spanprof_status st = spanprof_session_flush(run.session, 1000);

    STRESS_REQUIRE(st == SPANPROF_OK || st == SPANPROF_ERR_TIMEOUT,
                   "a flush failed: %s", spanprof_status_text(st));
    stress_sleep_ms(100);
  }
  for (i = 0; i < EXACT_THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  main_cpu_ns = stress_thread_cpu_ns() - main_cpu_ns;
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(run.stats.samples_exported > 0, "nothing was sampled");
  printf("%s: ", title);
  if (cpu_clocks)
    ticks_compare(&run, main_cpu_ns);
  stress_run_print(&run);
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t half_ns;

  stress_begin();
  half_ns = stress_seconds() * STRESS_NS_PER_S / 2;
  session_try("CPU clocks, 1000 Hz", true, half_ns);
  stress_wall_hz(STRESS_TSAN ? "500" : "5000");
  session_try("wall clock", false, half_ns);
  return 0;
}
