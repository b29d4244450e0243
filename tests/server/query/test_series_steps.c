/* The steps of time series. */
#include "check.h"

#include <server/query/series/series_points.h>

/* A point at the time t has the times in (t - step, t]. The first point also
 * has all times before it. */
static void a_time_belongs_to_the_next_point(void) {
  const sp_series_steps steps = sp_series_steps_of(1000, 3500, 1.0);

  CHECK_EQUAL(2, steps.last);
  CHECK_EQUAL(0, sp_series_step(&steps, 0));
  CHECK_EQUAL(0, sp_series_step(&steps, 1000));
  CHECK_EQUAL(1, sp_series_step(&steps, 1001));
  CHECK_EQUAL(1, sp_series_step(&steps, 2000));
  CHECK_EQUAL(2, sp_series_step(&steps, 3000));
  CHECK_EQUAL(-1, sp_series_step(&steps, 3001));
}

static void a_step_may_be_a_fraction_of_a_second(void) {
  const sp_series_steps steps = sp_series_steps_of(0, 100, 0.0075);

  CHECK_EQUAL(7, steps.step_ms);
  CHECK_EQUAL(14, steps.last);
  CHECK_EQUAL(0, sp_series_steps_of(5, 5, 1e300).last);
}

/* The time one step before the first point and the time one step after the last
 * point also fit 64 bits. The undefined behaviour sanitizer checks this. */
static void the_largest_ranges_have_steps(void) {
  static const double lengths[] = {0.001, 1, 1e300};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(lengths); i++) {
    const sp_series_steps steps =
        sp_series_steps_of(INT64_MIN, INT64_MAX, lengths[i]);

    CHECK(steps.last > 0);
    CHECK(steps.start_ms - steps.step_ms < steps.start_ms);
    CHECK(steps.start_ms + (steps.last + 1) * steps.step_ms > 0);
    CHECK(sp_series_step(&steps, INT64_MAX / 1000000) > 0);
  }
}

static void points_add_up_in_cells_and_groups(void) {
  static const char *const by_texts[] = {"host"};
  const sp_texts by = {.texts = (const char **)(uintptr_t)by_texts, .count = 1};
  const sp_text_pair one[] = {{"host", "a"}, {"version", "1"}};
  const sp_text_pair two[] = {{"host", "a"}, {"version", "2"}};
  const sp_text_pair three[] = {{"version", "3"}};
  const sp_text_pairs series[] = {{one, 2}, {two, 2}, {three, 1}};
  sp_series_groups groups;
  sp_series_cells cells;
  sp_arena arena;
  uint32_t seen[3], *order;
  size_t i;

  sp_arena_init(&arena, &sp_mem_default, 1 << 20);
  sp_series_groups_init(&groups, &arena, &by);
  sp_series_cells_init(&cells, &sp_mem_default, 1 << 20);
  for (i = 0; i < 3; i++) {
    const sp_exemplar point = {.value = 5 - (int64_t)i, .time_ms = (int64_t)i};

    CHECK(!sp_series_groups_find(&groups, &series[i], &seen[i]));
    CHECK(!sp_series_groups_find(&groups, &series[i], &seen[i]));
    CHECK(
        !sp_series_cells_add(&cells, groups.seen[seen[i]].group, 1, 0, &point));
    groups.groups[groups.seen[seen[i]].group].total += i == 2 ? 100 : 1;
  }
  sp_series_cells_sort(&cells);
  CHECK_EQUAL(2, groups.count);
  CHECK_EQUAL(groups.seen[seen[0]].group, groups.seen[seen[1]].group);
  CHECK_EQUAL(0, groups.groups[groups.seen[seen[2]].group].labels.count);
  CHECK_EQUAL(2, cells.count);
  CHECK_EQUAL(9, cells.cells[0].value);
  CHECK_EQUAL(2, cells.cells[0].count);
  CHECK_EQUAL(5, cells.cells[0].exemplar.value);
  CHECK(!sp_series_groups_sort(&groups, &order));
  CHECK_EQUAL(groups.seen[seen[2]].group, order[0]);
  sp_series_cells_dispose(&cells);
  sp_series_groups_dispose(&groups);
  sp_arena_dispose(&arena);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_time_belongs_to_the_next_point", a_time_belongs_to_the_next_point},
      {"a_step_may_be_a_fraction_of_a_second",
       a_step_may_be_a_fraction_of_a_second},
      {"the_largest_ranges_have_steps", the_largest_ranges_have_steps},
      {"points_add_up_in_cells_and_groups", points_add_up_in_cells_and_groups},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
