#include "check.h"
#include "command/report.h"
#include "command/report_folded.h"
#include "command/report_print.h"
#include "command/report_rows.h"
#include "command/report_unit.h"
#include "failing_mem.h"

#include <string.h>

/* Functions: 0 main, 1 work, 2 inner (inlined into work), 3 without a name. */
static const sp_pprof_function functions[] = {
    {.name = "main", .system_name = "", .file = "main.c"},
    {.name = "work", .system_name = "", .file = ""},
    {.name = "", .system_name = "_inner", .file = "work.h"},
    {.name = "", .system_name = "", .file = ""},
};
static const sp_pprof_mapping mappings[] = {
    {.file = "/usr/lib/libwork.so.1", .build_id = ""},
    {.file = "[vdso]", .build_id = ""},
};
static const sp_pprof_line main_line[] = {{.function = 0, .line = 1}};
static const sp_pprof_line work_lines[] = {{.function = 2, .line = 7},
                                           {.function = 1, .line = 5}};
static const sp_pprof_line plain_line[] = {{.function = 1, .line = 9}};
static const sp_pprof_line nameless_line[] = {{.function = 3, .line = 0}};
static const sp_pprof_location locations[] = {
    {.mapping = 0, .line_count = 1, .lines = main_line},
    {.mapping = 0, .line_count = 2, .lines = work_lines},
    {.mapping = 0, .line_count = 1, .lines = plain_line},
    {.mapping = 0, .line_count = 0},
    {.mapping = 1, .line_count = 0},
    {.mapping = SP_PPROF_NONE, .line_count = 1, .lines = nameless_line},
};

#define SPAN_ONE "00000000000000a1"
#define SPAN_TWO "00000000000000A2"

static const sp_pprof_label label_cart[] = {
    {.key = "profile_id", .text = SPAN_ONE},
    {.key = "span_name", .text = "GET /cart"},
    {.key = "region", .text = "eu"}};
static const sp_pprof_label label_legacy[] = {
    {.key = "span_id", .text = SPAN_TWO}, {.key = "span", .text = "GET /"}};
static const sp_pprof_label label_bad_id[] = {
    {.key = "span_id", .text = SPAN_TWO},
    {.key = "profile_id", .text = "not an id"},
    {.key = "bytes", .number = 4096, .unit = "bytes"}};

/* Innermost first. */
static const uint32_t stack_plain[] = {2, 0};
static const uint32_t stack_inlined[] = {1, 0};
static const uint32_t stack_recursive[] = {2, 2, 2, 0};
static const uint32_t stack_module[] = {3, 4, 5};

static const int64_t values[][2] = {{1, 10}, {2, 20}, {3, 30},
                                    {4, 40}, {5, 50}, {6, -5}};

#define SAMPLE(i, stack, labels_of)                            \
  {                                                            \
    .values = values[i], .locations = stack,                   \
    .location_count = SP_COUNT_OF(stack), .labels = labels_of, \
    .label_count = SP_COUNT_OF(labels_of)                      \
  }

static const sp_pprof_sample samples[] = {
    SAMPLE(0, stack_plain, label_cart),
    SAMPLE(1, stack_inlined, label_cart),
    SAMPLE(2, stack_recursive, label_legacy),
    SAMPLE(3, stack_module, label_bad_id),
    {.values = values[4]}, /* no stack, no labels */
    {.values = values[5],
     .locations = stack_plain,
     .location_count = SP_COUNT_OF(stack_plain)},
};

static const sp_pprof_type types[] = {
    {.type = "samples", .unit = "count"},
    {.type = "cpu", .unit = "milliseconds"},
};

static const sp_pprof profile = {
    .types = types,
    .type_count = SP_COUNT_OF(types),
    .samples = samples,
    .sample_count = SP_COUNT_OF(samples),
    .locations = locations,
    .location_count = SP_COUNT_OF(locations),
    .functions = functions,
    .function_count = SP_COUNT_OF(functions),
    .mappings = mappings,
    .mapping_count = SP_COUNT_OF(mappings),
    .period_type = {.type = "", .unit = ""},
    .time_ns = INT64_C(1000000000),
    .duration_ns = INT64_C(500000000),
    .default_type = 0,
};

static sp_report report;
static sp_report_options options;

static void report_started(const char *type) {
  options.type = type;
  CHECK_EQUAL(sp_report_init(&report, &sp_mem_default, &options), SPANPROF_OK);
}

static void report_ended(void) {
  sp_report_dispose(&report);
  memset(&options, 0, sizeof options);
}

static bool row_is(const sp_report_row *row, const char *name) {
  return strlen(name) == row->name_bytes &&
         memcmp(row->name, name, row->name_bytes) == 0;
}

static sp_report_row row_of(sp_report_table table, const char *name) {
  sp_report_row *rows, found = {.spans = UINT64_MAX};
  size_t i, count;

  CHECK_EQUAL(
      sp_report_rows(&report, table, SP_REPORT_BY_ITS_OWN, &rows, &count),
      SPANPROF_OK);
  for (i = 0; i < count; i++) {
    if (row_is(&rows[i], name))
      found = rows[i];
    CHECK(i == 0 || (table == SP_REPORT_FUNCTIONS
                         ? rows[i - 1].self.value >= rows[i].self.value
                         : rows[i - 1].total.value >= rows[i].total.value));
  }
  sp_mem_free(&sp_mem_default, rows);
  if (found.spans == UINT64_MAX)
    CHECK_TEXT(NULL, name);
  return found;
}

#define MS INT64_C(1000000)

static void cpu_is_chosen_and_made_nanoseconds(void) {
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_TEXT(report.type, "cpu");
  CHECK_TEXT(report.unit, "nanoseconds");
  CHECK_EQUAL(report.all.value, 145 * MS);
  CHECK_EQUAL(report.taken.value, 145 * MS);
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

static void spans_are_known_by_either_label(void) {
  sp_report_row row;

  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.span_count, 2);
  row = row_of(SP_REPORT_SPAN_NAMES, "GET /cart");
  CHECK_EQUAL(row.self.value, 60 * MS);
  CHECK_EQUAL(row.spans, 1);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "GET /").self.value, 60 * MS);
  /* Its last id is none, so the one before counts; it has no name there. */
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "(no name)").self.value, 80 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "(no span)").self.value, 90 * MS);
  row = row_of(SP_REPORT_SPANS, "GET /");
  CHECK_EQUAL(row.id, 0xa2);
  CHECK_EQUAL(row.self.value, 140 * MS);
  report_ended();
}

static void spans_have_the_name_they_had_last(void) {
  const sp_pprof_label before[] = {{.key = "profile_id", .text = SPAN_ONE},
                                   {.key = "span_name", .text = "GET"}};
  const sp_pprof_label after[] = {{.key = "profile_id", .text = SPAN_ONE},
                                  {.key = "span_name", .text = "GET /x"}};
  const sp_pprof_sample renamed[] = {SAMPLE(0, stack_plain, before),
                                     SAMPLE(1, stack_plain, after)};
  sp_pprof other = profile;

  other.samples = renamed;
  other.sample_count = 2;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_OK);
  CHECK_EQUAL(row_of(SP_REPORT_SPANS, "GET /x").self.value, 30 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "GET").spans, 0);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "GET").self.value, 10 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "GET /x").spans, 1);
  report_ended();
}

#define OUTER 0xfe00000000000001
#define INNER "fe00000000000003"

/* Samples of spans in spans: 1 "outer" [2 "wrapper" [3 "query" [4 "query"]]].
 */
static const sp_pprof_label label_outer[] = {
    {.key = "profile_id", .text = "fe00000000000001"},
    {.key = "span_name", .text = "outer"}};
static const sp_pprof_label label_query[] = {
    {.key = "profile_id", .text = INNER},
    {.key = "span_name", .text = "query"},
    {.key = "ancestor:wrapper", .number = 2, .unit = ""},
    {.key = "ancestor:outer", .number = (int64_t)OUTER, .unit = ""}};
static const sp_pprof_label label_deep[] = {
    {.key = "profile_id", .text = "0000000000000004"},
    {.key = "span_name", .text = "query"},
    {.key = "ancestor:query", .number = (int64_t)OUTER + 2, .unit = ""},
    {.key = "ancestor:", .number = 2, .unit = ""},
    {.key = "ancestor:outer", .number = (int64_t)OUTER, .unit = ""},
    {.key = "ancestor:outer", .text = "the program's own", .unit = ""}};
static const sp_pprof_sample nested_samples[] = {
    SAMPLE(0, stack_plain, label_outer),
    SAMPLE(1, stack_plain, label_query),
    SAMPLE(2, stack_plain, label_deep),
    {.values = values[3]}};

static sp_pprof nested_profile(void) {
  sp_pprof nested = profile;

  nested.samples = nested_samples;
  nested.sample_count = SP_COUNT_OF(nested_samples);
  return nested;
}

static void check_row(sp_report_table table, const char *name, int64_t self_ms,
                      int64_t total_ms, uint64_t spans) {
  sp_report_row row = row_of(table, name);

  CHECK_EQUAL(row.self.value, self_ms * MS);
  CHECK_EQUAL(row.total.value, total_ms * MS);
  CHECK_EQUAL(row.spans, spans);
}

static void totals_have_the_time_of_descendants(void) {
  const sp_pprof nested = nested_profile();

  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &nested, NULL), SPANPROF_OK);
  check_row(SP_REPORT_SPAN_NAMES, "outer", 10, 60, 1);
  check_row(SP_REPORT_SPAN_NAMES, "wrapper", 0, 20, 1);
  check_row(SP_REPORT_SPAN_NAMES, "(no name)", 0, 30, 0);
  check_row(SP_REPORT_SPAN_NAMES, "query", 50, 50, 2);
  check_row(SP_REPORT_SPAN_NAMES, "(no span)", 40, 40, 0);
  check_row(SP_REPORT_SPANS, "outer", 10, 60, 0);
  /* Its name stays the one that was told. */
  check_row(SP_REPORT_SPANS, "wrapper", 0, 50, 0);
  CHECK_EQUAL(report.span_count, 4);
  report_ended();
}

static void filters_take_descendants_unless_told(void) {
  static const struct {
    const char *span, *name;
    int64_t ms, self_ms;
  } table[] = {
      {"fe00000000000001", NULL, 60, 10},
      {"0000000000000002", NULL, 50, 0},
      {INNER, NULL, 50, 20},
      {"0000000000000004", NULL, 30, 30},
      {NULL, "outer", 60, 10},
      {NULL, "query", 50, 50},
      {NULL, "wrapper", 20, 0},
      {INNER, "wrapper", 20, 0},
  };
  const sp_pprof nested = nested_profile();
  size_t i, self;

  for (i = 0; i < SP_COUNT_OF(table); i++)
    for (self = 0; self < 2; self++) {
      options.filter.self = self;
      options.filter.span_name = table[i].name;
      options.filter.by_span = table[i].span != NULL;
      if (table[i].span)
        CHECK(sp_span_id_parse(table[i].span, &options.filter.span));
      report_started(NULL);
      CHECK_EQUAL(sp_report_add(&report, &nested, NULL), SPANPROF_OK);
      CHECK_EQUAL(report.taken.value,
                  (self ? table[i].self_ms : table[i].ms) * MS);
      report_ended();
    }
}

static void small_spans_are_forgotten_past_the_cap(void) {
  sp_pprof_label label[1] = {{.key = "profile_id"}};
  int64_t value[2] = {0};
  sp_pprof_sample sample = {.values = value, .labels = label, .label_count = 1};
  sp_pprof one = profile;
  char id[20];
  size_t i;

  one.samples = &sample;
  one.sample_count = 1;
  report_started(NULL);
  report.spans_max = 8;
  for (i = 1; i <= 9; i++) {
    snprintf(id, sizeof id, "%016zx", i);
    label[0].text = id;
    value[1] = (int64_t)i;
    CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  }
  CHECK_EQUAL(report.span_count, 5);
  CHECK_EQUAL(report.forgotten_spans, 4);
  CHECK_EQUAL(report.spans[0].id, 8);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "(no name)").spans, 9);
  CHECK_EQUAL(report.taken.value, 45 * MS);
  snprintf(id, sizeof id, "%016x", 7);
  CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.span_count, 5);
  report_ended();
}

static void filters_take_what_matches_all_of_them(void) {
  static const struct {
    const char *span, *name, *label, *label_too;
    int64_t ms;
  } table[] = {
      {NULL, NULL, NULL, NULL, 145},
      {SPAN_ONE, NULL, NULL, NULL, 30},
      {SPAN_TWO, NULL, NULL, NULL, 70},
      {"00000000000000A1", "GET /cart", "region=eu", NULL, 30},
      {NULL, "GET /", NULL, NULL, 30},
      {NULL, "GET", NULL, NULL, 0},
      {NULL, NULL, "region=eu", "span_name=GET /cart", 30},
      {NULL, NULL, "region=eu", "span_name=GET /", 0},
      {NULL, NULL, "bytes=4096", NULL, 40},
      {NULL, NULL, "region=", NULL, 0},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    if (table[i].span) {
      options.filter.by_span = true;
      CHECK(sp_span_id_parse(table[i].span, &options.filter.span));
    }
    options.filter.span_name = table[i].name;
    if (table[i].label)
      CHECK_EQUAL(sp_report_filter_label(&options.filter, table[i].label),
                  SPANPROF_OK);
    if (table[i].label_too)
      CHECK_EQUAL(sp_report_filter_label(&options.filter, table[i].label_too),
                  SPANPROF_OK);
    report_started(NULL);
    CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
    CHECK_EQUAL(report.taken.value, table[i].ms * MS);
    CHECK_EQUAL(report.all.value, 145 * MS);
    report_ended();
  }
  CHECK_EQUAL(sp_report_filter_label(&options.filter, "=x"),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(sp_report_filter_label(&options.filter, "x"),
              SPANPROF_ERR_ARGUMENT);
}

static void span_ids_are_sixteen_digits(void) {
  uint64_t id;

  CHECK(sp_span_id_parse("0123456789abcDEF", &id));
  CHECK(id == UINT64_C(0x0123456789abcdef));
  CHECK(!sp_span_id_parse("", &id));
  CHECK(!sp_span_id_parse("0123456789abcde", &id));
  CHECK(!sp_span_id_parse("0123456789abcdef0", &id));
  CHECK(!sp_span_id_parse("0123456789abcdeg", &id));
}

static void other_types_and_units_are_left_out(void) {
  const sp_pprof_type bytes[] = {{.type = "cpu", .unit = "bytes"},
                                 {.type = "cpu2", .unit = "count"}};
  sp_pprof other = profile;

  other.types = bytes;
  report_started(NULL);
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(&report, &other, NULL), SPANPROF_ERR_UNSUPPORTED);
  CHECK_TEXT(spanprof_last_error(),
             "measures cpu in bytes, the profiles before it in nanoseconds");
  CHECK_EQUAL(report.profiles, 1);
  CHECK_EQUAL(report.all.value, 145 * MS);
  report_ended();
  report_started("wall");
  CHECK_EQUAL(sp_report_add(&report, &profile, NULL), SPANPROF_ERR_UNSUPPORTED);
  CHECK_TEXT(spanprof_last_error(), "has no type wall (it has samples, cpu)");
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

static void values_read_as_people_write_them(void) {
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

/* What folded stacks of the profile print with room for so many numbers. */
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

  folded_text(SP_CALL_TREE_NODES_MAX, text, sizeof text);
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
      {"cpu is chosen, and made nanoseconds",
       cpu_is_chosen_and_made_nanoseconds},
      {"functions count once per stack", functions_count_once_per_stack},
      {"code without a name is its module", code_without_a_name_is_its_module},
      {"spans are known by either label", spans_are_known_by_either_label},
      {"spans have the name they had last", spans_have_the_name_they_had_last},
      {"totals have the time of descendants",
       totals_have_the_time_of_descendants},
      {"filters take descendants unless told",
       filters_take_descendants_unless_told},
      {"small spans are forgotten past the cap",
       small_spans_are_forgotten_past_the_cap},
      {"filters take what matches all of them",
       filters_take_what_matches_all_of_them},
      {"span ids are sixteen digits", span_ids_are_sixteen_digits},
      {"other types and units are left out",
       other_types_and_units_are_left_out},
      {"sums stop at the largest number", sums_stop_at_the_largest_number},
      {"values read as people write them", values_read_as_people_write_them},
      {"folded stacks go from the outermost",
       folded_stacks_go_from_the_outermost},
      {"folded stacks that do not fit are written early",
       folded_stacks_that_do_not_fit_are_written_early},
      {"every failed allocation is survived",
       reports_survive_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
