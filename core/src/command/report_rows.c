#include "report_rows.h"

#include "../util/status.h"

#include <stdlib.h>
#include <string.h>

/* Of what is equally large. */
static int rows_name_order(const sp_report_row *left,
                           const sp_report_row *right) {
  const size_t shorter =
      (size_t)sp_min_u64(left->name_bytes, right->name_bytes);
  int order;

  order = shorter ? memcmp(left->name, right->name, shorter) : 0;
  if (order == 0)
    order = (left->name_bytes > right->name_bytes) -
            (left->name_bytes < right->name_bytes);
  return order ? order : (left->id > right->id) - (left->id < right->id);
}

static int rows_self_order(const void *a, const void *b) {
  const sp_report_row *left = a, *right = b;

  if (left->self != right->self)
    return left->self < right->self ? 1 : -1;
  if (left->total != right->total)
    return left->total < right->total ? 1 : -1;
  return rows_name_order(left, right);
}

static int rows_total_order(const void *a, const void *b) {
  const sp_report_row *left = a, *right = b;

  if (left->total != right->total)
    return left->total < right->total ? 1 : -1;
  if (left->self != right->self)
    return left->self < right->self ? 1 : -1;
  return rows_name_order(left, right);
}

static void rows_name(const sp_report *report, uint32_t name,
                      sp_report_row *row) {
  row->name = sp_name_table_get(&report->names, name, &row->name_bytes);
}

static size_t rows_of_span_names(const sp_report *report, sp_report_row *rows) {
  size_t i, count = 0;

  for (i = 0; i < report->span_name_count; i++) {
    rows[i] = (sp_report_row){.self = report->span_names[i].self,
                              .total = report->span_names[i].total,
                              .spans = report->span_names[i].spans};
    rows_name(report, report->span_names[i].name, &rows[i]);
  }
  for (i = 0; i < report->span_count; i++)
    rows[report->spans[i].name].spans++;
  /* A name that all its spans gave up (renamed later) and nothing else has. */
  for (i = 0; i < report->span_name_count; i++) {
    if (rows[i].self != 0 || rows[i].total != 0 || rows[i].spans != 0)
      rows[count++] = rows[i];
  }
  return count;
}

static size_t rows_of_spans(const sp_report *report, sp_report_row *rows) {
  size_t i;

  for (i = 0; i < report->span_count; i++) {
    const sp_report_span *span = &report->spans[i];

    rows[i] = (sp_report_row){
        .self = span->self, .total = span->total, .id = span->id};
    rows_name(report, report->span_names[span->name].name, &rows[i]);
  }
  return i;
}

static size_t rows_of_functions(const sp_report *report, sp_report_row *rows) {
  size_t i;

  for (i = 0; i < report->function_count; i++) {
    const sp_report_function *function = &report->functions[i];

    rows[i] = (sp_report_row){.self = function->self, .total = function->total};
    rows_name(report, function->name, &rows[i]);
    rows[i].file =
        sp_name_table_get(&report->names, function->file, &rows[i].file_bytes);
  }
  return i;
}

spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_row **out, size_t *count) {
  size_t most = table == SP_REPORT_SPAN_NAMES ? report->span_name_count
                : table == SP_REPORT_SPANS    ? report->span_count
                                              : report->function_count;
  sp_report_row *rows = sp_mem_new(report->mem, most * sizeof *rows);

  *out = rows;
  *count = 0;
  if (!rows)
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  if (table == SP_REPORT_SPAN_NAMES)
    *count = rows_of_span_names(report, rows);
  else if (table == SP_REPORT_SPANS)
    *count = rows_of_spans(report, rows);
  else
    *count = rows_of_functions(report, rows);
  qsort(rows, *count, sizeof *rows,
        table == SP_REPORT_FUNCTIONS ? rows_self_order : rows_total_order);
  return SPANPROF_OK;
}
