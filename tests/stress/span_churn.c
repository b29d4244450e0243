/* Every thread runs 100,000 spans. They are nested, renamed before their end,
 * ended by another thread, or never ended. The stack of each sample belongs to
 * code that ran in the sample's span, with and without root_span_only. */
#include "span_work.h"

#define CHURN_WORKERS 4
#define CHURN_SPANS   (STRESS_TSAN || STRESS_ASAN ? 10000 : 100000)
#define CHURN_HANDED  64

/* Spans that another thread will end, or 0. */
static _Atomic uint64_t spans_handed[CHURN_HANDED];
static _Atomic uint64_t spans_made, spans_leaked;
static uint64_t work_until_ns;
static spanprof_span_rules *rules;

typedef struct churn_nest {
  unsigned kind;
  uint64_t *random;
} churn_nest;

static void span_finish(spanprof_span span, uint64_t *random) {
  uint32_t dice = stress_random(random) % 100;

  if (dice == 0) {
    spans_leaked++;
  } else if (dice < 30) {
    /* Store this span, so that another thread ends it, and end the span that
     * was stored before. */
    spanprof_span_end(
        atomic_exchange(&spans_handed[dice % CHURN_HANDED], span));
  } else {
    spanprof_span_end(span);
  }
}

static void child_run(void *data) {
  const churn_nest *nest = data;
  unsigned kind = (nest->kind + 1) % SPAN_WORK_KINDS;
  spanprof_span span = span_work_start(rules, kind, NULL);
  spanprof_span_token token;

  STRESS_OK(spanprof_span_enter(span, &token));
  span_work_burn(kind, 20 * STRESS_NS_PER_US, NULL, NULL);

  spanprof_span_leave(token);
  span_finish(span, nest->random);
  spans_made++;
}

static void span_once(uint64_t *random) {
  unsigned kind = stress_random(random) % SPAN_WORK_KINDS;
  bool rename = stress_random(random) % 3 == 0;
  churn_nest nest = {.kind = kind, .random = random};
  spanprof_span span = span_work_start(rules, kind, rename ? "GET" : NULL);
  spanprof_span_token token;

  STRESS_OK(spanprof_span_enter(span, &token));
  span_work_burn(kind, 30 * STRESS_NS_PER_US,
                 stress_random(random) % 2 ? child_run : NULL, &nest);
  if (rename)
    spanprof_span_rename(span, span_work_name(kind),
                         strlen(span_work_name(kind)));
  spanprof_span_leave(token);
  span_finish(span, random);
  spans_made++;
}

static void *worker_run(void *data) {
  uint64_t random = (uintptr_t)data;

  while (stress_now_ns() < work_until_ns || spans_made < CHURN_SPANS)
    span_once(&random);
  return NULL;
}

static void rules_try(int root_only, uint64_t for_ns) {
  span_work_totals totals = {.outermost = root_only, .before = "GET"};
  spanprof_span_rules_options options;
  pthread_t threads[CHURN_WORKERS];
  static stress_run run;
  uintptr_t i;

  spans_made = spans_leaked = 0;
  work_until_ns = stress_now_ns() + for_ns;
  STRESS_OK(spanprof_span_rules_options_init(&options, sizeof options));
  options.root_span_only = root_only;
  STRESS_OK(spanprof_span_rules_new(&options, &rules));
  stress_run_init(&run, "span_churn");
  run.sum.on_sample = span_work_sample;
  run.sum.on_sample_data = &totals;
  stress_run_start(&run);
  for (i = 0; i < CHURN_WORKERS; i++)
    pthread_create(&threads[i], NULL, worker_run, (void *)(i + 1));
  for (i = 0; i < CHURN_WORKERS; i++)
    pthread_join(threads[i], NULL);
  for (i = 0; i < CHURN_HANDED; i++)
    spanprof_span_end(atomic_exchange(&spans_handed[i], 0));
  stress_run_stop(&run, 5000);
  span_work_check(&totals, root_only ? "root only" : "innermost");
  printf("%llu spans, %llu left open, %llu live; ",
         (unsigned long long)spans_made, (unsigned long long)spans_leaked,
         (unsigned long long)run.stats.spans_live);
  stress_run_print(&run);
  stress_run_dispose(&run);
  spanprof_span_rules_free(rules);
}

int main(void) {
  uint64_t half_ns;

  stress_begin();
  half_ns = stress_seconds() * STRESS_NS_PER_S / 2;
  stress_wall_hz(STRESS_TSAN ? "500" : "2000");
  rules_try(1, half_ns);
  rules_try(0, half_ns);
  return 0;
}
