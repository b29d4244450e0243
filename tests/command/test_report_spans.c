#include "report_fixture.h"

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
  /* The last id of this sample is invalid, so its span is that of the previous
   * id, for which the sample has no name. */
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "(no name)").self.value, 80 * MS);
  CHECK_EQUAL(row_of(SP_REPORT_SPAN_NAMES, "(no span)").self.value, 90 * MS);
  row = row_of(SP_REPORT_SPANS, "GET /");
  CHECK_EQUAL(row.id, 0xa2);
  CHECK_EQUAL(row.self.value, 140 * MS);
  report_ended();
}

static void spans_have_their_latest_name(void) {
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
  /* A sample without the name of the span does not change the name that another
   * sample has given. */
  check_row(SP_REPORT_SPANS, "wrapper", 0, 50, 0);
  CHECK_EQUAL(report.span_count, 4);
  report_ended();
}

static void filters_include_descendants_by_default(void) {
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
      CHECK_EQUAL(report.selected.value,
                  (self ? table[i].self_ms : table[i].ms) * MS);
      report_ended();
    }
}

static void small_spans_are_discarded_beyond_the_limit(void) {
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
  CHECK_EQUAL(report.selected.value, 45 * MS);
  snprintf(id, sizeof id, "%016x", 7);
  CHECK_EQUAL(sp_report_add(&report, &one, NULL), SPANPROF_OK);
  CHECK_EQUAL(report.span_count, 5);
  report_ended();
}

static void filters_must_all_match(void) {
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
    CHECK_EQUAL(report.selected.value, table[i].ms * MS);
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

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"spans are known by either label", spans_are_known_by_either_label},
      {"spans have their latest name", spans_have_their_latest_name},
      {"totals have the time of descendants",
       totals_have_the_time_of_descendants},
      {"filters include descendants by default",
       filters_include_descendants_by_default},
      {"small spans are discarded beyond the limit",
       small_spans_are_discarded_beyond_the_limit},
      {"filters must all match", filters_must_all_match},
      {"span ids are sixteen digits", span_ids_are_sixteen_digits},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
