/* The rows of a table of spans: finding a row, and selecting a page of the
 * sorted rows. */
#include "failing_mem.h"

#include <server/query/spans/span_rows.h>

#define ROWS_MANY 10000 /* fills more than two blocks of rows */
#define ROWS_PAGE 100

static void rows_fill(sp_span_rows *rows) {
  uint32_t number;
  uint64_t i;

  for (i = 1; i <= ROWS_MANY; i++) {
    CHECK(!sp_span_rows_get(rows, i, 0, &number));
    CHECK_EQUAL(number, i - 1);
    /* The totals are from -50 to 50, and each occurs about a hundred times. */
    sp_span_rows_at(rows, number)->total = (int64_t)(i * 7919 % 101) - 50;
  }
}

/* Check that the last `count` rows are the selected ones: in reverse order,
 * they are sorted by total and then by id. */
static void rows_check(const sp_span_rows *rows, size_t count) {
  const sp_span_row *before = NULL, *row;
  size_t i;

  for (i = 0; i < count; i++, before = row) {
    row = sp_span_rows_at(rows, rows->count - 1 - i);
    if (i == 0)
      CHECK_EQUAL(row->total, 50);
    else
      CHECK(before->total > row->total ||
            (before->total == row->total && before->span_id < row->span_id));
  }
}

static void a_page_has_the_first_rows_of_the_order(void) {
  static const size_t counts[] = {1, ROWS_PAGE, ROWS_MANY, ROWS_MANY + 1};
  size_t k;

  for (k = 0; k < SP_COUNT_OF(counts); k++) {
    sp_span_rows rows;
    sp_arena arena;

    sp_arena_init(&arena, &sp_mem_default, 1 << 20);
    sp_span_rows_init(&rows, &arena, true);
    rows_fill(&rows);
    CHECK_EQUAL(sp_span_rows_find(&rows, ROWS_MANY, 0), ROWS_MANY - 1);
    CHECK_EQUAL(sp_span_rows_find(&rows, ROWS_MANY + 1, 0), SP_INDEX_NONE);
    sp_span_rows_select(&rows, sp_span_rows_order("total"), counts[k]);
    rows_check(&rows, counts[k] < ROWS_MANY ? counts[k] : ROWS_MANY);
    sp_span_rows_dispose(&rows);
    sp_arena_dispose(&arena);
  }
  CHECK(!sp_span_rows_order("totals"));
}

static void rows_scenario(const sp_mem *mem) {
  sp_span_rows rows;
  sp_arena arena;
  uint32_t number, name = 0;
  spanprof_status st;

  sp_arena_init(&arena, mem, 1 << 20);
  sp_span_rows_init(&rows, &arena, false);
  st = sp_span_rows_text(&rows, "GET /", &name);
  if (!st)
    st = sp_span_rows_get(&rows, 1, name, &number);
  if (!st)
    st = sp_span_rows_get(&rows, 2, name, &number);
  if (!st)
    st = sp_span_rows_set_trace(&rows, number, (sp_trace_id){1, 2});
  if (!st)
    st = sp_span_rows_add_time(&rows, number, 3);
  CHECK(st == SPANPROF_ERR_NOMEM || (!st && rows.count == 1));
  sp_span_rows_dispose(&rows);
  sp_arena_dispose(&arena);
}

static void running_out_of_memory_returns_an_error(void) {
  failing_mem_sweep(rows_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_page_has_the_first_rows_of_the_order",
       a_page_has_the_first_rows_of_the_order},
      {"running_out_of_memory_returns_an_error",
       running_out_of_memory_returns_an_error},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
