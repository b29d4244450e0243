/* Quantiles of durations. */
#include "check.h"

#include <server/query/spans/span_durations.h>

static void quantiles_are_nearest_ranks_within_a_row(void) {
  static const struct {
    int64_t count;
    unsigned percent;
    int64_t expected;
  } cases[] = {{1, 50, 1},     {1, 99, 1},     {2, 50, 1},    {2, 99, 2},
               {3, 50, 2},     {100, 50, 50},  {100, 99, 99}, {101, 99, 100},
               {200, 50, 100}, {200, 99, 198}, {1000, 1, 10}, {7, 100, 7}};
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    sp_span_durations durations = {0};
    int64_t ns;

    for (ns = cases[i].count; ns > 0; ns--) {
      CHECK(!sp_span_durations_add(&durations, &sp_mem_default, 1, ns));
      CHECK(!sp_span_durations_add(&durations, &sp_mem_default, 3, ns + 5000));
    }
    sp_span_durations_sort(&durations);
    CHECK_EQUAL(sp_span_durations_quantile(&durations, 1, cases[i].percent),
                cases[i].expected);
    CHECK_EQUAL(sp_span_durations_quantile(&durations, 3, cases[i].percent),
                cases[i].expected + 5000);
    CHECK_EQUAL(sp_span_durations_quantile(&durations, 2, cases[i].percent), 0);
    sp_span_durations_dispose(&durations, &sp_mem_default);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"quantiles_are_nearest_ranks_within_a_row",
       quantiles_are_nearest_ranks_within_a_row},
  };

  return check_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
