#include "collect/samples/mark_table.h"

#include "check.h"
#include "failing_mem.h"

static struct sp_sink *const running = (struct sp_sink *)&running;

static void mark_add(sp_mark_table *table, spanprof_mark mark,
                     spanprof_mark outer) {
  const sp_mark_entry entry = {.mark = mark, .outer = outer, .sink = running};

  CHECK_EQUAL(sp_mark_table_add(table, &sp_mem_default, &entry), SPANPROF_OK);
}

static void marks_are_found_in_any_order_of_adding(void) {
  static const spanprof_mark marks[] = {5, 2, 9, 1, 7};
  sp_mark_table table = {0};
  size_t i;

  for (i = 0; i < 5; i++)
    mark_add(&table, marks[i], 0);
  for (i = 0; i < 5; i++) {
    CHECK(sp_mark_table_find(&table, marks[i]));
    CHECK_EQUAL(sp_mark_table_find(&table, marks[i])->mark, marks[i]);
  }
  CHECK(!sp_mark_table_find(&table, 0));
  CHECK(!sp_mark_table_find(&table, 3));
  CHECK(!sp_mark_table_find(&table, 10));
  sp_mark_table_dispose(&table, &sp_mem_default);
}

static void an_ended_recording_stays_while_an_outer_one_runs(void) {
  sp_mark_table table = {0};

  mark_add(&table, 1, 0);
  mark_add(&table, 2, 1);
  mark_add(&table, 3, 2);
  sp_mark_table_end(&table, 2);
  sp_mark_table_end(&table, 3);
  CHECK(sp_mark_table_find(&table, 3));
  CHECK(!sp_mark_table_find(&table, 3)->sink);
  CHECK_EQUAL(sp_mark_table_find(&table, 3)->outer, 2);
  sp_mark_table_end(&table, 1);
  CHECK_EQUAL(table.count, 0);
  sp_mark_table_end(&table, 1);
  sp_mark_table_dispose(&table, &sp_mem_default);
}

static void an_ended_outer_recording_is_removed_while_an_inner_one_runs(void) {
  sp_mark_table table = {0};

  mark_add(&table, 1, 0);
  mark_add(&table, 2, 1);
  sp_mark_table_end(&table, 1);
  CHECK_EQUAL(table.count, 1);
  CHECK(sp_mark_table_find(&table, 2)->sink);
  sp_mark_table_end(&table, 2);
  CHECK_EQUAL(table.count, 0);
  sp_mark_table_dispose(&table, &sp_mem_default);
}

static void ended_recordings_are_limited(void) {
  const spanprof_mark last = 2 * SP_MARKS_ENDED_MAX;
  sp_mark_table table = {0};
  spanprof_mark mark;

  mark_add(&table, 1, 0);
  for (mark = 2; mark <= last; mark++) {
    mark_add(&table, mark, 1);
    sp_mark_table_end(&table, mark);
  }
  CHECK_EQUAL(table.count, SP_MARKS_ENDED_MAX + 1);
  CHECK(sp_mark_table_find(&table, 1)->sink);
  CHECK(sp_mark_table_find(&table, last));
  CHECK(!sp_mark_table_find(&table, 2));
  sp_mark_table_dispose(&table, &sp_mem_default);
}

static void table_sweep(const sp_mem *mem) {
  sp_mark_table table = {0};
  size_t added = 0;
  spanprof_mark mark;

  for (mark = 1; mark <= 100; mark++)
    added += !sp_mark_table_add(
        &table, mem, &(sp_mark_entry){.mark = mark, .sink = running});
  CHECK_EQUAL(table.count, added);
  sp_mark_table_dispose(&table, mem);
}

static void without_memory_nothing_is_added(void) {
  failing_mem_sweep(table_sweep);
}

static const check_test tests[] = {
    {"marks_are_found_in_any_order_of_adding",
     marks_are_found_in_any_order_of_adding},
    {"an_ended_recording_stays_while_an_outer_one_runs",
     an_ended_recording_stays_while_an_outer_one_runs},
    {"an_ended_outer_recording_is_removed_while_an_inner_one_runs",
     an_ended_outer_recording_is_removed_while_an_inner_one_runs},
    {"ended_recordings_are_limited", ended_recordings_are_limited},
    {"without_memory_nothing_is_added", without_memory_nothing_is_added},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
