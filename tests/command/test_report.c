#include "command/print/report_folded.h"
#include "command/print/report_print.h"
#include "command/report/report_unit.h"
#include "failing_mem.h"
#include "report_fixture.h"

/* The values of two samples of one type, in milliseconds. */
static const int64_t own_values[] = {30, 4};
static const sp_pprof_sample own_samples[] = {
    {.values = own_values,
     .locations = stack_plain,
     .location_count = SP_COUNT_OF(stack_plain)},
    {.values = own_values + 1}};

static void cpu_is_chosen_and_converted_to_nanoseconds(void) {
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_TEXT(report.type, "cpu");
  CHECK_TEXT(report.unit, "nanoseconds");
  CHECK_EQUAL(report.all.value, 145 * MS);
  CHECK_EQUAL(report.selected.value, 145 * MS);
  CHECK_EQUAL(report.start_ns, 1000000000);
  CHECK_EQUAL(report.end_ns, 1500000000);
  report_ended();
  report_started("samples");
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.value, 21);
  report_ended();
}

static void functions_count_once_per_stack(void) {
  sp_report_row row;

  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  row = row_of(SP_REPORT_FUNCTIONS, "main");
  CHECK_EQUAL(row.self.value, 0);
  CHECK_EQUAL(row.total.value, 55 * MS);
  row = row_of(SP_REPORT_FUNCTIONS, "work");
  CHECK_EQUAL(row.self.value, 35 * MS);
  CHECK_EQUAL(row.total.value, 55 * MS);
  CHECK(row.file_bytes == 12 && memcmp(row.file, "libwork.so.1", 12) == 0);
  row = row_of(SP_REPORT_FUNCTIONS, "_inner");
  CHECK_EQUAL(row.self.value, 20 * MS);
  CHECK_EQUAL(row.total.value, 20 * MS);
  report_ended();
}

static void code_without_a_name_is_its_module(void) {
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "[libwork.so.1]").self.value,
              40 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "[vdso]").total.value, 40 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "[unknown]").total.value, 40 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "[no stack]").self.value, 50 * MS);
  report_ended();
}

static void other_types_and_units_are_left_out(void) {
  const sp_pprof_type bytes[] = {{.type = "cpu", .unit = "bytes"},
                                 {.type = "cpu2", .unit = "count"}};
  sp_pprof other = profile;

  other.types = bytes;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_ERR_UNSUPPORTED);
  CHECK_TEXT(
      spanprof_last_error(),
      "has cpu values in bytes, but the profiles before it have nanoseconds");
  CHECK_EQUAL(report.profiles, 1);
  CHECK_EQUAL(report.all.value, 145 * MS);
  report_ended();
  report_started("wall");
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_ERR_UNSUPPORTED);
  CHECK_TEXT(
      spanprof_last_error(),
      "has no values of type wall; its types, for --type, are samples, cpu");
  report_ended();
}

static void sums_stop_at_the_largest_number(void) {
  const int64_t huge[] = {1, INT64_MAX / 2}, low[] = {1, INT64_MIN};
  sp_pprof_sample sample = {.values = huge};
  sp_pprof one = profile;

  CHECK_EQUAL(sp_amount_sum(INT64_MAX, 1), INT64_MAX);
  CHECK_EQUAL(sp_amount_sum(INT64_MIN, -1), INT64_MIN);
  one.samples = &sample;
  one.sample_count = 1;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.value, INT64_MAX);
  report_ended();
  sample.values = low;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.value, INT64_MIN);
  report_ended();
}

static void values_are_printed_for_people(void) {
  static const struct {
    int64_t value;
    const char *unit;
    const char *shown;
    const char *sentence;
  } table[] = {
      {1530000000, "nanoseconds", "1.530", "CPU 1.530 s"},
      {0, "nanoseconds", "0.000", "CPU 0.000 s"},
      {512, "bytes", "512 B", "CPU 512 B"},
      {1536, "bytes", "1.5 KiB", "CPU 1.5 KiB"},
      {-1048576, "bytes", "-1.0 MiB", "CPU -1.0 MiB"},
      {153, "count", "153", "CPU 153"},
      {7, "widgets", "7", "CPU 7 widgets"},
  };
  char shown[SP_REPORT_VALUE_BYTES], sentence[100];
  int64_t scale;
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_report_value(table[i].value, table[i].unit, shown);
    CHECK_TEXT(shown, table[i].shown);
    sp_report_sentence("cpu", table[i].unit, table[i].value, sentence,
                       sizeof sentence);
    CHECK_TEXT(sentence, table[i].sentence);
  }
  CHECK_TEXT(sp_report_unit("\xce\xbcs", &scale), "nanoseconds");
  CHECK_EQUAL(scale, 1000);
  CHECK_TEXT(sp_report_unit("objects", &scale), "objects");
  CHECK_EQUAL(scale, 1);
  sp_report_share(1, 0, shown);
  CHECK_TEXT(shown, "-");
}

/* Print the profile's folded stacks, with at most `nodes_max` nodes in memory.
 */
static void folded_text(size_t nodes_max, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  sp_report_folded folded;

  CHECK(out);
  report_started(NULL);
  sp_report_folded_init(&folded, &report, out);
  folded.tree.nodes_max = nodes_max;
  report.listener = (sp_report_listener){sp_report_folded_stack,
                                         sp_report_folded_restart, &folded};
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_folded_flush(&folded), SPANPROF_OK);
  sp_report_folded_dispose(&folded);
  report_ended();
  fclose(out);
}

static void folded_stacks_go_from_the_outermost(void) {
  char text[2048] = "";

  folded_text(SP_REPORT_TREE_NODES_MAX, text, sizeof text);
  CHECK_TEXT(text, "[no stack] 100000000\n"
                   "[unknown];[vdso];[libwork.so.1] 80000000\n"
                   "main;work;work;work 60000000\n"
                   "main;work;_inner 40000000\n"
                   "main;work 10000000\n");
}

static void folded_stacks_that_do_not_fit_are_written_early(void) {
  char text[2048] = "", *line, *rest = NULL;
  int64_t sum = 0;
  size_t lines = 0;

  folded_text(5, text, sizeof text);
  for (line = strtok_r(text, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    sum += strtoll(strrchr(line, ' ') + 1, NULL, 10);
    lines++;
  }
  CHECK(lines > 5);
  CHECK_EQUAL(sum, 290 * MS);
}

/* Profiles of spanprof have a period, profiles of Go a type that counts
 * samples, and others neither. */
static void samples_are_counted_by_the_best_known_number(void) {
  static const char *const comments[] = {"samples: taken 20, dropped full 0",
                                         "ticks: taken 60, dropped 0"};
  sp_pprof other = profile;

  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.samples, 1 + 2 + 3 + 4 + 5 + 6);
  report_ended();
  other.types = types + 1;
  other.type_count = 1;
  report_started(NULL);
  other.samples = own_samples;
  other.sample_count = SP_COUNT_OF(own_samples);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.samples, 2);
  report_ended();
  other.period_type = types[1];
  other.period = 10;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.all.samples, 3 + 1);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "work").self.samples, 3);
  report_ended();
  /* The comments say that each signal stood for three ticks, so 30 ms are one
   * sample. */
  other.comments = comments;
  other.comment_count = SP_COUNT_OF(comments);
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_OK);
  CHECK_EQUAL(row_of(SP_REPORT_FUNCTIONS, "work").self.samples, 1);
  report_ended();
}

static void lines_are_distinguished_on_request(void) {
  sp_report_row *rows;
  size_t i, count, seen = 0;

  options.lines = true;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_rows(&report, SP_REPORT_FUNCTIONS, SP_REPORT_BY_TOTAL,
                             &rows, &count),
              SPANPROF_OK);
  for (i = 0; i < count; i++) {
    CHECK(i == 0 || rows[i - 1].total.value >= rows[i].total.value);
    if (!row_is(&rows[i], "work"))
      continue;
    CHECK(rows[i].line == 5 || rows[i].line == 9);
    CHECK_EQUAL(rows[i].total.value, (rows[i].line == 5 ? 20 : 35) * MS);
    seen++;
  }
  CHECK_EQUAL(seen, 2);
  sp_mem_free(&sp_mem_default, rows);
  report_ended();
}

static void report_print_with(const sp_mem *mem) {
  const sp_pprof nested = nested_profile();
  static char text[16384];
  FILE *out = fmemopen(text, sizeof text, "w");
  sp_report_printer printer = {.out = out};
  spanprof_status st = sp_report_init(&report, mem, &options);

  CHECK(out);
  if (st == SPANPROF_OK) {
    st = sp_report_add(&report, &profile, NULL);
    if (st == SPANPROF_OK)
      st = sp_report_add(&report, &nested, NULL);
    if (st == SPANPROF_OK)
      st = sp_report_print_text(&report, &printer);
    if (st == SPANPROF_OK)
      st = sp_report_print_json(&report, NULL, &printer);
    sp_report_dispose(&report);
  }
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  fclose(out);
}

static void reports_survive_every_failed_allocation(void) {
  failing_mem_sweep(report_print_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"cpu is chosen and converted to nanoseconds",
       cpu_is_chosen_and_converted_to_nanoseconds},
      {"functions count once per stack", functions_count_once_per_stack},
      {"code without a name is its module", code_without_a_name_is_its_module},
      {"other types and units are left out",
       other_types_and_units_are_left_out},
      {"sums stop at the largest number", sums_stop_at_the_largest_number},
      {"values are printed for people", values_are_printed_for_people},
      {"folded stacks go from the outermost",
       folded_stacks_go_from_the_outermost},
      {"folded stacks that do not fit are written early",
       folded_stacks_that_do_not_fit_are_written_early},
      {"samples are counted by the best known number",
       samples_are_counted_by_the_best_known_number},
      {"lines are distinguished on request",
       lines_are_distinguished_on_request},
      {"every failed allocation is survived",
       reports_survive_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
