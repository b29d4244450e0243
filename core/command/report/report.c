#include "report.h"

#include <string.h>

#include "measure.h"
#include "report_functions.h"
#include "report_labels.h"
#include "report_spans.h"
#include "util/system/status.h"

spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_options *options) {
  spanprof_status st;

  memset(report, 0, sizeof *report);
  report->mem = mem;
  report->options = options;
  report->spans_max = SP_REPORT_SPANS_MAX;
  report->label_values_max = SP_REPORT_LABEL_VALUES_MAX;
  sp_name_table_init(&report->names, mem);
  sp_report_comments_init(&report->comments, mem);
  st = sp_code_rules_init(&report->code_rules);
  if (!st)
    st = sp_report_spans_init(report);
  if (st)
    sp_report_dispose(report);
  return st;
}

void sp_report_dispose(sp_report *report) {
  const sp_mem *mem = report->mem;

  sp_name_table_dispose(&report->names);
  sp_code_rules_dispose(&report->code_rules);
  sp_mem_free(mem, report->file_kinds);
  sp_mem_free(mem, report->type);
  sp_mem_free(mem, report->unit);
  sp_mem_free(mem, report->functions);
  sp_index_dispose(&report->function_index, mem);
  sp_mem_free(mem, report->span_names);
  sp_mem_free(mem, report->sample_names);
  sp_index_dispose(&report->span_name_index, mem);
  sp_mem_free(mem, report->spans);
  sp_index_dispose(&report->span_index, mem);
  sp_mem_free(mem, report->labels);
  sp_index_dispose(&report->label_index, mem);
  sp_report_comments_dispose(&report->comments);
  sp_mem_free(mem, report->stack);
  memset(report, 0, sizeof *report);
}

spanprof_status sp_report_restart(sp_report *report) {
  const sp_mem *mem = report->mem;
  const sp_report_options *options = report->options;
  const sp_report_listener listener = report->listener;
  spanprof_status st;

  sp_report_dispose(report);
  st = sp_report_init(report, mem, options);
  if (st)
    return st;
  report->listener = listener;
  if (listener.restart)
    listener.restart(listener.data);
  return SPANPROF_OK;
}

static spanprof_status report_set_type(sp_report *report, const char *type,
                                       const char *unit) {
  if (report->type)
    return SPANPROF_OK;
  report->type = sp_mem_text(report->mem, type, strlen(type));
  report->unit = sp_mem_text(report->mem, unit, strlen(unit));
  if (report->type && report->unit)
    return SPANPROF_OK;
  sp_mem_free(report->mem, report->type);
  sp_mem_free(report->mem, report->unit);
  report->type = report->unit = NULL;
  return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
}

static void report_set_times(sp_report *report,
                             const sp_profile_origin *origin) {
  if (origin->start_ns == 0)
    return;
  if (report->start_ns == 0 || origin->start_ns < report->start_ns)
    report->start_ns = origin->start_ns;
  report->end_ns = sp_max_u64(report->end_ns, origin->end_ns);
}

static spanprof_status report_add_sample(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         const sp_amount *amount) {
  spanprof_status st;
  size_t depth;

  sp_amount_add(&report->all, amount);
  if (!sp_report_filter_matches(&report->options->filter, file->profile,
                                sample))
    return SPANPROF_OK;
  st = sp_report_functions_find(report, file, sample, &depth);
  if (st || !sp_report_functions_match(report, depth))
    return st;
  if (report->options->mine)
    st = sp_report_functions_keep_own(report, file, &depth);
  if (st)
    return st;
  sp_amount_add(&report->selected, amount);
  report->samples++;
  sp_report_functions_add(report, depth, amount);
  st = sp_report_spans_add(report, sample, amount);
  if (!st)
    st = sp_report_labels_add(report, file->profile, sample, amount);
  if (!st && report->listener.stack)
    st = report->listener.stack(report->listener.data, report->stack, depth,
                                amount);
  return st;
}

static spanprof_status report_add_samples(sp_report *report,
                                          const sp_pprof *profile,
                                          const sp_measure *measure) {
  sp_report_file file = {.profile = profile};
  spanprof_status st = sp_report_file_init(&file, report->mem, profile);
  sp_amount amount;
  size_t i;

  for (i = 0; i < profile->sample_count && !st; i++) {
    sp_measure_sample(measure, &profile->samples[i], &amount);
    if (amount.value)
      st = report_add_sample(report, &file, &profile->samples[i], &amount);
  }
  sp_report_file_dispose(&file, report->mem);
  return st;
}

spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile,
                              const sp_profile_origin *origin) {
  sp_profile_origin own;
  sp_measure measure;
  spanprof_status st = sp_measure_init(
      &measure, profile, report->type ? report->type : report->options->type);

  if (st)
    return st;
  if (!origin) {
    sp_profile_origin_read(&own, profile, NULL);
    origin = &own;
  }
  if (report->unit && strcmp(report->unit, measure.unit) != 0)
    return sp_fail(SPANPROF_ERR_UNSUPPORTED,
                   "has %s values in %s, but the profiles before it have %s",
                   report->type, measure.unit, report->unit);
  st = report_set_type(report, profile->types[measure.type].type, measure.unit);
  if (!st)
    st = report_add_samples(report, profile, &measure);
  if (!st)
    st = sp_report_comments_add(&report->comments, profile, origin);
  if (st)
    return st;
  report->profiles++;
  report_set_times(report, origin);
  return SPANPROF_OK;
}
