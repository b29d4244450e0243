/* Every sample taken is delivered or counted as dropped, exactly, while threads
 * come and go, push labels and work in spans; on CPU clocks, and on a wall
 * clock that fills the rings. */
#include "stress_run.h"

#define EXACT_THREADS (STRESS_TSAN ? 3 : 4)

typedef struct exact_worker {
  pthread_t thread;
  uint64_t until_ns;
  uint64_t cpu_ns; /* used */
  unsigned number;
} exact_worker;

static void *short_work(void *data) {
  (void)data;
  spanprof_thread_register();
  stress_burn(3 * STRESS_NS_PER_MS);
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
  STRESS_OK(spanprof_label_push("step", 4, value, strlen(value), &label));
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

  for (i = 0; stress_now_ns() < worker->until_ns; i++) {
    pthread_t thread;

    work_once(worker->number, &random);
    if (i % 16 == 0 && pthread_create(&thread, NULL, short_work, NULL) == 0)
      pthread_join(thread, NULL);
  }
  worker->cpu_ns = stress_thread_cpu_ns();
  return NULL;
}

static void session_try(const char *what, uint64_t for_ns) {
  exact_worker workers[EXACT_THREADS];
  uint64_t until_ns = stress_now_ns() + for_ns, cpu_ns = 0;
  static stress_run run;
  unsigned i;

  stress_run_init(&run, "exact");
  run.options.sample_rate_hz = 1000;
  stress_run_start(&run);
  for (i = 0; i < EXACT_THREADS; i++) {
    workers[i] = (exact_worker){.until_ns = until_ns, .number = i};
    STRESS_REQUIRE(
        pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) == 0,
        "no thread");
  }
  while (stress_now_ns() < until_ns) {
    spanprof_status st = spanprof_session_flush(run.session, 1000);

    STRESS_REQUIRE(st == SPANPROF_OK || st == SPANPROF_ERR_TIMEOUT,
                   "a flush says: %s", spanprof_status_text(st));
    stress_sleep_ms(100);
  }
  for (i = 0; i < EXACT_THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    cpu_ns += workers[i].cpu_ns;
  }
  stress_run_stop(&run, 5000);
  STRESS_REQUIRE(run.stats.samples_exported > 0, "nothing was sampled");
  printf("%s: %.2f s of CPU in the threads, %.2f s in the profiles; ", what,
         (double)cpu_ns / 1e9, (double)run.sum.value_ns / 1e9);
  stress_run_tell(&run);
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t half_ns;

  stress_begin();
  half_ns = stress_seconds() * STRESS_NS_PER_S / 2;
  session_try("CPU clocks, 1000 Hz", half_ns);
  stress_wall_hz(STRESS_TSAN ? "500" : "5000");
  session_try("wall clock", half_ns);
  return 0;
}
