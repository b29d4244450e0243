#include "sampler/drain_pace.h"

#include "check.h"

#define MS SP_NS_PER_MS

static void rounds_are_as_rare_as_the_ring_allows(void) {
  static const struct {
    uint64_t interval_ms;
    unsigned fill_percent;
    uint64_t since_ms, expected_ms;
  } rows[] = {
      {10, 0, 150, 150},  {10, 20, 150, 150}, {10, 50, 150, 150},
      {10, 60, 150, 125}, {10, 40, 100, 125}, {10, 75, 150, 10},
      {10, 100, 150, 10}, {1, 0, 100, 100},   {1, 50, 10, 10},
      {1, 70, 10, 10},    {1, 20, 10, 25},    {1000, 0, 150, 150},
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
