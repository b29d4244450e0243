#include "sampler/drain_pace.h"

#include "check.h"

#define MS SP_NS_PER_MS

static void rounds_are_as_rare_as_the_ring_allows(void) {
  static const struct {
    uint64_t interval_ms;
    unsigned fill_percent;
    uint64_t since_ms, expected_ms;
  } rows[] = {
      {10, 0, 200, 200},  {10, 20, 200, 200}, {10, 50, 200, 200},
      {10, 62, 200, 161}, {10, 28, 100, 178}, {10, 75, 200, 10},
      {10, 100, 200, 10}, {1, 0, 100, 100},   {1, 50, 10, 10},
      {1, 70, 10, 10},    {1, 20, 10, 25},    {1000, 0, 200, 200},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++)
    CHECK_EQUAL(sp_drain_pace_ns(rows[i].interval_ms * MS, rows[i].fill_percent,
                                 rows[i].since_ms * MS) /
                    MS,
                rows[i].expected_ms);
}

static const check_test tests[] = {
    {"rounds_are_as_rare_as_the_ring_allows",
     rounds_are_as_rare_as_the_ring_allows},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
