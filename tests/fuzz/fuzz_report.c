/* Aggregates any profile and prints it in every form. */
#include "command/report/report.h"

#include <stdlib.h>

#include "command/report/report_diff.h"
#include "command/print/report_diff_print.h"
#include "command/print/report_folded.h"
#include "command/print/report_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_ways {
  sp_report report;
  sp_report_folded folded;
  sp_report_peek peek;
} fuzz_ways;

static spanprof_status fuzz_stack(void *data, const uint32_t *functions,
                                  size_t count, const sp_amount *amount) {
  fuzz_ways *ways = data;

  if (sp_report_folded_stack(&ways->folded, functions, count, amount))
    abort();
  return sp_report_peek_stack(&ways->peek, functions, count, amount);
}

static void fuzz_print(fuzz_ways *ways, FILE *out) {
  sp_report_printer printer = {.out = out, .top = 3};
  sp_diff diff = {
      .base = &ways->report, .now = &ways->report, .scale = 1, .fail_above = 0};

  if (sp_report_print_text(&ways->report, &printer) ||
      sp_report_print_json(&ways->report, NULL, &printer) ||
      sp_report_print_json(&ways->report, &ways->peek, &printer) ||
      sp_report_print_labels(&ways->report, &printer) ||
      sp_report_print_tree(&ways->report, &ways->folded.tree, &printer) ||
      sp_report_folded_flush(&ways->folded))
    abort();
  sp_report_print_peek(&ways->peek, &printer);
  /* The difference between a report and itself must be empty. */
  if (ways->report.type && (sp_diff_print_text(&diff, &printer) ||
                            sp_diff_print_json(&diff, &printer) || diff.grown))
    abort();
}

static void fuzz_report(const sp_pprof *profile,
                        const sp_report_options *options, FILE *out) {
  const sp_profile_origin origin = {.process = 7, .start_ns = 1};
  fuzz_ways ways;
  spanprof_status st;

  if (sp_report_init(&ways.report, &sp_mem_default, options))
    abort();
  sp_report_folded_init(&ways.folded, &ways.report, out);
  sp_report_peek_init(&ways.peek, &ways.report);
  ways.report.listener =
      (sp_report_listener){.stack = fuzz_stack, .data = &ways};
  ways.report.spans_max = 4;
  ways.report.label_values_max = 4;
  if (sp_report_add(&ways.report, profile, &origin))
    abort();
  /* The profile may have a second type with the same name but another unit. */
  st = sp_report_add(&ways.report, profile, NULL);
  if (st && st != SPANPROF_ERR_UNSUPPORTED)
    abort();
  fuzz_print(&ways, out);
  sp_report_folded_dispose(&ways.folded);
  sp_report_peek_dispose(&ways.peek);
  sp_report_dispose(&ways.report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static sp_report_options options[] = {{.all_labels = true, .lines = true},
                                        {.group_by = "region"}};
  static FILE *out;
  sp_pprof *profile;
  size_t i;

  if (!out) {
    out = fopen("/dev/null", "w");
    if (!out || sp_pattern_set(&options[0].peek, ".") ||
        sp_pattern_set(&options[1].filter.ignore, "^i"))
      abort();
  }
  if (sp_pprof_read(&profile, &sp_mem_default, data, size))
    return 0;
  for (i = 0; i < SP_COUNT_OF(options); i++)
    fuzz_report(profile, &options[i], out);
  sp_pprof_free(profile);
  return 0;
}
