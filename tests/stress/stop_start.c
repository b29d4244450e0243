/* Sessions start and stop 1,000 times while threads push labels, work in spans
 * and end. After each stop, the counters account for all samples exactly. */
#include "stress_run.h"

#define STOPS_MIN     (STRESS_TSAN ? 30 : STRESS_ASAN ? 100 : 1000)
#define STOPPED_AMONG 3

static _Atomic bool work_over;

static void work_once(void) {
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "between",
                             .name_bytes = 7};
  spanprof_label_token label;
  spanprof_span_token token;
  spanprof_span span;

  STRESS_OK(spanprof_label_push_bytes("who", 3, "worker", 6, &label));
  STRESS_OK(spanprof_span_start(NULL, &info, &span));
  STRESS_OK(spanprof_span_enter(span, &token));
  stress_burn(50 * STRESS_NS_PER_US);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  spanprof_label_pop(label);
}

static void *short_run(void *data) {
  (void)data;
  spanprof_thread_register();
  work_once();
  return NULL;
}

static void *worker_run(void *data) {
  unsigned i;

  for (i = 0; !atomic_load(&work_over); i++) {
    pthread_t thread;

    work_once();
    if (data && i % 8 == 0 &&
        pthread_create(&thread, NULL, short_run, NULL) == 0)
      pthread_join(thread, NULL);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[STOPPED_AMONG];
  uint64_t until_ns = stress_begin(), taken = 0, dropped = 0;
  static stress_run run;
  unsigned stops;
  uintptr_t i;

  stress_wall_hz("1000");
  for (i = 0; i < STOPPED_AMONG; i++)
    pthread_create(&threads[i], NULL, worker_run, i == 0 ? &run : NULL);
  for (stops = 0; stops < STOPS_MIN || stress_now_ns() < until_ns; stops++) {
    spanprof_session *second;

    stress_run_init(&run, "stop_start");
    stress_run_start(&run);
    STRESS_REQUIRE(spanprof_session_start(&run.options, &second) ==
                           SPANPROF_ERR_STATE &&
                       !second,
                   "a second session started");
    stress_sleep_ms(stops % 4);
    stress_run_stop(&run, 5000);
    STRESS_REQUIRE(spanprof_session_stop(run.session, 0) == SPANPROF_ERR_STATE,
                   "a session stopped twice");
    taken += run.stats.samples_taken;
    dropped += stress_stats_dropped(&run.stats);
    stress_run_dispose(&run);
  }
  atomic_store(&work_over, true);
  for (i = 0; i < STOPPED_AMONG; i++)
    pthread_join(threads[i], NULL);
  STRESS_REQUIRE(taken > dropped, "nothing was delivered");
  printf("%u sessions, %llu samples, %llu of them dropped\n", stops,
         (unsigned long long)taken, (unsigned long long)dropped);
  return 0;
}
