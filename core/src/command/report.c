#include "report.h"

#include "../util/status.h"
#include "report_functions.h"
#include "report_spans.h"
#include "report_unit.h"

#include <stdio.h>
#include <string.h>

int64_t sp_report_sum(int64_t a, int64_t b) {
  int64_t sum;

  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

spanprof_status sp_report_init(sp_report *report, const sp_mem *mem,
                               const sp_report_filter *filter,
                               const char *wanted_type) {
  spanprof_status st;

  memset(report, 0, sizeof *report);
  report->mem = mem;
  report->filter = filter;
  report->wanted_type = wanted_type;
  report->spans_max = SP_REPORT_SPANS_MAX;
  sp_name_table_init(&report->names, mem);
  st = sp_report_spans_init(report);
  if (st != SPANPROF_OK)
    sp_report_dispose(report);
  return st;
}

void sp_report_dispose(sp_report *report) {
  const sp_mem *mem = report->mem;

  sp_name_table_dispose(&report->names);
  sp_mem_free(mem, report->type);
  sp_mem_free(mem, report->unit);
  sp_mem_free(mem, report->functions);
  sp_index_dispose(&report->function_index, mem);
  sp_mem_free(mem, report->span_names);
  sp_index_dispose(&report->span_name_index, mem);
  sp_mem_free(mem, report->spans);
  sp_index_dispose(&report->span_index, mem);
  sp_mem_free(mem, report->stack);
  memset(report, 0, sizeof *report);
}

/* What types a profile has, for a sentence. */
static void report_list_types(const sp_pprof *profile, char *out, size_t size) {
  size_t i, used = 0;

  out[0] = '\0';
  for (i = 0; i < profile->type_count && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
                             profile->types[i].type);
}

/* The type of this profile to add up, and its unit made ours. */
static spanprof_status report_choose_type(const sp_report *report,
                                          const sp_pprof *profile,
                                          uint32_t *type, const char **unit,
                                          int64_t *scale) {
  const char *wanted = report->type ? report->type : report->wanted_type;
  char types[200];

  *unit = NULL;
  *scale = 1;
  *type = sp_pprof_type_find(profile, wanted ? wanted : "cpu");
  if (*type == SP_PPROF_NONE && !wanted)
    *type = profile->default_type;
  if (*type == SP_PPROF_NONE) {
    report_list_types(profile, types, sizeof types);
    return sp_fail(SPANPROF_ERR_UNSUPPORTED, "has no type %s (it has %s)",
                   wanted, types);
  }
  *unit = sp_report_unit(profile->types[*type].unit, scale);
  if (report->unit && strcmp(report->unit, *unit) != 0)
    return sp_fail(SPANPROF_ERR_UNSUPPORTED,
                   "measures %s in %s, the profiles before it in %s",
                   report->type, *unit, report->unit);
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

static void report_set_times(sp_report *report, const sp_pprof *profile) {
  uint64_t start = profile->time_ns > 0 ? (uint64_t)profile->time_ns : 0;
  uint64_t end =
      start + (profile->duration_ns > 0 ? (uint64_t)profile->duration_ns : 0);

  if (start == 0)
    return;
  if (report->start_ns == 0 || start < report->start_ns)
    report->start_ns = start;
  report->end_ns = sp_max_u64(report->end_ns, end);
}

static spanprof_status report_add_sample(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         int64_t value) {
  spanprof_status st;
  size_t depth;

  report->all = sp_report_sum(report->all, value);
  if (!sp_report_filter_takes(report->filter, sample))
    return SPANPROF_OK;
  report->taken = sp_report_sum(report->taken, value);
  report->samples++;
  st = sp_report_spans_add(report, sample, value);
  if (st == SPANPROF_OK)
    st = sp_report_functions_add(report, file, sample, value, &depth);
  if (st == SPANPROF_OK && report->listener.stack)
    st = report->listener.stack(report->listener.data, report->stack, depth,
                                value);
  return st;
}

spanprof_status sp_report_add(sp_report *report, const sp_pprof *profile) {
  sp_report_file file = {.profile = profile};
  const char *unit;
  uint32_t type;
  int64_t scale;
  spanprof_status st =
      report_choose_type(report, profile, &type, &unit, &scale);
  size_t i;

  if (st == SPANPROF_OK)
    st = report_set_type(report, profile->types[type].type, unit);
  if (st == SPANPROF_OK)
    st = sp_report_file_init(&file, report->mem, profile);
  for (i = 0; i < profile->sample_count && st == SPANPROF_OK; i++) {
    const sp_pprof_sample *sample = &profile->samples[i];
    int64_t value;

    if (__builtin_mul_overflow(sample->values[type], scale, &value))
      value = sample->values[type] > 0 ? INT64_MAX : INT64_MIN;
    if (value)
      st = report_add_sample(report, &file, sample, value);
  }
  sp_report_file_dispose(&file, report->mem);
  if (st == SPANPROF_OK) {
    report->profiles++;
    report_set_times(report, profile);
  }
  return st;
}
