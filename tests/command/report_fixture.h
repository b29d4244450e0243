/* A profile with known contents, and a report of it. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <string.h>

#include "check.h"
#include "command/report/report.h"
#include "command/report/report_rows.h"

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

/* Indexes of locations, innermost first. */
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
    {.values = values[4]}, /* a sample without stack and labels */
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

static inline void report_started(const char *type) {
  options.type = type;
  CHECK_EQUAL(sp_report_init(&report, &sp_mem_default, &options), SPANPROF_OK);
}

static inline void report_ended(void) {
  sp_report_dispose(&report);
  memset(&options, 0, sizeof options);
}

static inline bool row_is(const sp_report_row *row, const char *name) {
  return strlen(name) == row->name_bytes &&
         memcmp(row->name, name, row->name_bytes) == 0;
}

static inline sp_report_row row_of(sp_report_table table, const char *name) {
  sp_report_row *rows, found = {.spans = UINT64_MAX};
  size_t i, count;

  CHECK_EQUAL(
      sp_report_rows(&report, table, SP_REPORT_BY_DEFAULT, &rows, &count),
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

#define OUTER 0xfe00000000000001
#define INNER "fe00000000000003"

/* Samples of nested spans: 1 "outer" [2 "wrapper" [3 "query" [4 "query"]]]. */
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

static inline sp_pprof nested_profile(void) {
  sp_pprof nested = profile;

  nested.samples = nested_samples;
  nested.sample_count = SP_COUNT_OF(nested_samples);
  return nested;
}

#endif
