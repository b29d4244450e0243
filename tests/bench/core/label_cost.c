/* Measures the cost of pushing and popping a label, and of entering and leaving
 * a span, in a program that uses the shared library. */
#include <spanprof/spanprof.h>

#include "bench.h"

/* Operations in a round. A round is short compared with a time slice of the
 * scheduler, so that few rounds are disturbed. */
#define COST_PER_ROUND 20000
#define COST_ROUNDS    1000

static spanprof_text_id cost_name, cost_value;
static spanprof_span cost_span;

static void empty_run(size_t times) {
  size_t i;

  for (i = 0; i < times; i++)
    spanprof_version();
}

static void interned_run(size_t times) {
  spanprof_label_token token;
  size_t i;

  for (i = 0; i < times; i++) {
    spanprof_label_push_ids(cost_name, cost_value, &token);
    spanprof_label_pop(token);
  }
}

static void strings_run(size_t times) {
  spanprof_label_token token;
  size_t i;

  for (i = 0; i < times; i++) {
    spanprof_label_push_bytes("controller", 10, "orders", 6, &token);
    spanprof_label_pop(token);
  }
}

static void span_run(size_t times) {
  spanprof_span_token token;
  size_t i;

  for (i = 0; i < times; i++) {
    spanprof_span_enter(cost_span, &token);
    spanprof_span_leave(token);
  }
}

static const struct cost {
  const char *what;
  void (*run)(size_t times);
  double bar_ns; /* the goal; 0: none */
} costs[] = {
    {"an empty call", empty_run, 0},
    {"label push + pop, interned", interned_run, 10},
    {"label push + pop, strings", strings_run, 15},
    {"span enter + leave", span_run, 10},
};
#define COST_COUNT (sizeof costs / sizeof costs[0])

int main(void) {
  static double ns[COST_COUNT][COST_ROUNDS];
  size_t rounds = bench_quick() ? COST_ROUNDS / 10 : COST_ROUNDS, i, round;
  spanprof_span_info info = {.struct_size = sizeof info,
                             .flags = SPANPROF_SPAN_SAMPLED,
                             .name = "GET /orders",
                             .name_bytes = 11};
  spanprof_session *session;
  spanprof_options options;
  char measured[96], bar[32], comparison[64];

  spanprof_options_init(&options, sizeof options);
  options.application_name = "bench-label-cost";
  if (spanprof_session_start(&options, &session) != SPANPROF_OK ||
      spanprof_text_intern("controller", 10, &cost_name) != SPANPROF_OK ||
      spanprof_text_intern("orders", 6, &cost_value) != SPANPROF_OK ||
      spanprof_span_start(NULL, &info, &cost_span) != SPANPROF_OK)
    bench_die("%s", spanprof_last_error());
  for (i = 0; i < COST_COUNT; i++)
    costs[i].run(COST_PER_ROUND);
  for (round = 0; round < rounds; round++) {
    for (i = 0; i < COST_COUNT; i++) {
      uint64_t start_ns = bench_now_ns();

      costs[i].run(COST_PER_ROUND);
      ns[i][round] = (double)(bench_now_ns() - start_ns) / COST_PER_ROUND;
    }
  }
  spanprof_session_stop(session, 2000);

  for (i = 0; i < COST_COUNT; i++)
    bench_sort(ns[i], rounds);
  snprintf(comparison, sizeof comparison, "an empty call: %.1f ns",
           bench_quantile(ns[0], rounds, 0.5));
  for (i = 1; i < COST_COUNT; i++) {
    double median_ns = bench_quantile(ns[i], rounds, 0.5);

    snprintf(measured, sizeof measured, "%.1f ns (best %.1f)", median_ns,
             ns[i][0]);
    snprintf(bar, sizeof bar, "<= %.0f ns", costs[i].bar_ns);
    bench_bar(costs[i].what, measured, bar, comparison,
              median_ns <= costs[i].bar_ns);
  }
  return 0;
}
