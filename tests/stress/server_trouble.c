/* In each case the server is down, slow or silent, or gives wrong answers, for
 * the whole session. The application's threads are never delayed, the stop
 * keeps its deadline, and the server has stored exactly the profiles that the
 * library reports as delivered. */
#include "stress_run.h"
#include "trouble_server.h"

/* Minimum CPU time of a worker: several timer ticks, also on a busy machine. */
#define TROUBLE_CPU_NS  (50 * STRESS_NS_PER_MS)
#define TROUBLE_WORKERS 3
#define TROUBLE_STOP_MS 1000
/* Timeout of the stop if the server works. All profiles must arrive within it,
 * however busy the machine is. */
#define TROUBLE_FINE_MS  30000
#define TROUBLE_SLACK_NS (1500 * STRESS_NS_PER_MS)
/* Maximum duration of a push. It is far shorter than a wait for a server, and
 * far longer than a pause of a busy machine. */
#define TROUBLE_PUSH_NS (900 * STRESS_NS_PER_MS)

typedef struct trouble_case {
  const char *name;
  trouble_mode mode;
  int status;
  unsigned retry_after_s;
  bool down;
  /* the server must have stored exactly the exported ticks; false: it may have
   * stored more */
  bool exact;
  bool refused; /* the server stores nothing */
} trouble_case;

static bool case_fine(const trouble_case *one) {
  return one->mode == TROUBLE_NONE && !one->down;
}

static uint32_t case_stop_ms(const trouble_case *one) {
  return case_fine(one) ? TROUBLE_FINE_MS : TROUBLE_STOP_MS;
}

static const trouble_case trouble_cases[] = {
    {.name = "fine", .exact = true},
    {.name = "down", .down = true, .exact = true, .refused = true},
    {.name = "slow", .mode = TROUBLE_SLOW},
    {.name = "never answers",
     .mode = TROUBLE_HANG,
     .exact = true,
     .refused = true},
    {.name = "closes mid-body",
     .mode = TROUBLE_CUT,
     .exact = true,
     .refused = true},
    {.name = "stores, does not answer", .mode = TROUBLE_UNANSWERED},
    {.name = "stores, closes mid-answer", .mode = TROUBLE_HALF},
    {.name = "answers 400",
     .mode = TROUBLE_STATUS,
     .status = 400,
     .exact = true,
     .refused = true},
    {.name = "answers 401",
     .mode = TROUBLE_STATUS,
     .status = 401,
     .exact = true,
     .refused = true},
    {.name = "answers 413",
     .mode = TROUBLE_STATUS,
     .status = 413,
     .exact = true,
     .refused = true},
    {.name = "answers 429 with Retry-After",
     .mode = TROUBLE_STATUS,
     .status = 429,
     .retry_after_s = 30,
     .exact = true,
     .refused = true},
    {.name = "answers 500",
     .mode = TROUBLE_STATUS,
     .status = 500,
     .exact = true,
     .refused = true},
    {.name = "answers 503",
     .mode = TROUBLE_STATUS,
     .status = 503,
     .exact = true,
     .refused = true},
    {.name = "garbage",
     .mode = TROUBLE_GARBAGE,
     .exact = true,
     .refused = true},
    {.name = "redirects",
     .mode = TROUBLE_REDIRECT,
     .exact = true,
     .refused = true},
    {.name = "all modes in rotation", .mode = TROUBLE_MIXED},
};

typedef struct trouble_worker {
  pthread_t thread;
  uint64_t until_ns;
  uint64_t slowest_ns; /* longest duration of a push or pop of a label */
} trouble_worker;

static void *worker_run(void *data) {
  trouble_worker *worker = data;

  while (stress_now_ns() < worker->until_ns ||
         stress_thread_cpu_ns() < TROUBLE_CPU_NS) {
    uint64_t start_ns = stress_now_ns(), duration_ns;
    spanprof_label_token token;

    STRESS_OK(spanprof_label_push_bytes("step", 4, "one", 3, &token));
    spanprof_label_pop(token);
    duration_ns = stress_now_ns() - start_ns;
    if (duration_ns > worker->slowest_ns)
      worker->slowest_ns = duration_ns;
    stress_burn(20 * STRESS_NS_PER_US);
  }
  return NULL;
}

static uint64_t workers_run(uint64_t for_ns) {
  trouble_worker workers[TROUBLE_WORKERS];
  uint64_t slowest_ns = 0;
  unsigned i;

  for (i = 0; i < TROUBLE_WORKERS; i++) {
    workers[i] = (trouble_worker){.until_ns = stress_now_ns() + for_ns};
    pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]);
  }
  for (i = 0; i < TROUBLE_WORKERS; i++) {
    pthread_join(workers[i].thread, NULL);
    if (workers[i].slowest_ns > slowest_ns)
      slowest_ns = workers[i].slowest_ns;
  }
  return slowest_ns;
}

static void case_check(const trouble_case *one, const stress_run *run,
                       const tally *stored, uint64_t slowest_ns) {
  uint64_t exported = run->stats.ticks_exported;

  printf("%s: stop %.0f ms, slowest push %.2f ms, ticks stored %llu, exported "
         "%llu of %llu, repeats %llu\n",
         one->name, (double)run->stop_ns / 1e6, (double)slowest_ns / 1e6,
         (unsigned long long)stored->ticks, (unsigned long long)exported,
         (unsigned long long)run->stats.ticks_taken,
         (unsigned long long)stored->repeats);
  STRESS_REQUIRE(run->stop_ns <
                     case_stop_ms(one) * STRESS_NS_PER_MS + TROUBLE_SLACK_NS,
                 "the stop took %.0f ms", (double)run->stop_ns / 1e6);
  STRESS_REQUIRE(slowest_ns < TROUBLE_PUSH_NS, "a thread waited");
  STRESS_REQUIRE(stored->ticks >= exported,
                 "the server has not stored all exported ticks");
  STRESS_REQUIRE(!one->exact || stored->ticks == exported,
                 "the server has stored ticks that do not count as exported");
  STRESS_REQUIRE(run->stats.samples_taken > 0, "nothing was sampled");
  if (one->refused)
    STRESS_REQUIRE(exported == 0 && run->stats.profiles_dropped > 0,
                   "the server refused all profiles, but some count as "
                   "exported or none as dropped");
  if (case_fine(one))
    STRESS_REQUIRE(
        exported > 0 && run->stats.profiles_dropped == 0 &&
            run->stats.samples_dropped_export == 0,
        "the server works, but nothing was exported or something was dropped");
}

static void case_try(const trouble_case *one, uint64_t for_ns) {
  static trouble_server server;
  static stress_run run;
  uint64_t slowest_ns;

  server.mode = one->mode;
  server.status = one->status;
  server.retry_after_s = one->retry_after_s;
  trouble_server_start(&server);
  stress_run_init(&run, "server_trouble");
  run.options.on_profile = NULL;
  run.options.upload_interval_ms = 100;
  run.options.sample_rate_hz = 250;
  run.options.proxy = "";
  run.options.server_address =
      one->down ? "http://127.0.0.1:9" : server.address;
  stress_run_start(&run);
  slowest_ns = workers_run(for_ns);
  stress_run_stop(&run, case_stop_ms(one));
  trouble_server_stop(&server);
  case_check(one, &run, &server.stored, slowest_ns);
  STRESS_REQUIRE(one->mode == TROUBLE_NONE || one->mode == TROUBLE_SLOW ||
                     run.log_bytes > 0,
                 "nothing was logged");
  tally_dispose(&server.stored);
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t for_ns;
  size_t i;

  stress_begin();
  for_ns = stress_seconds() * STRESS_NS_PER_S / STRESS_COUNT_OF(trouble_cases);
  for (i = 0; i < STRESS_COUNT_OF(trouble_cases); i++)
    case_try(&trouble_cases[i], for_ns);
  return 0;
}
