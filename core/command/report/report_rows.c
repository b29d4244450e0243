#include "report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "util/system/status.h"

/* Compares the names of rows with equal values. */
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

/* Compares the keys of labels, so that values of one label are adjacent. */
static int rows_key_order(const sp_report_row *left,
                          const sp_report_row *right) {
  const size_t shorter =
      (size_t)sp_min_u64(left->file_bytes, right->file_bytes);
  int order = shorter ? memcmp(left->file, right->file, shorter) : 0;

  return order ? order
               : (left->file_bytes > right->file_bytes) -
                     (left->file_bytes < right->file_bytes);
}

static int rows_self_order(const void *a, const void *b) {
  const sp_report_row *left = a, *right = b;

  if (left->self.value != right->self.value)
    return left->self.value < right->self.value ? 1 : -1;
  if (left->total.value != right->total.value)
    return left->total.value < right->total.value ? 1 : -1;
  return rows_name_order(left, right);
}

static int rows_total_order(const void *a, const void *b) {
  const sp_report_row *left = a, *right = b;

  if (left->total.value != right->total.value)
    return left->total.value < right->total.value ? 1 : -1;
  if (left->self.value != right->self.value)
    return left->self.value < right->self.value ? 1 : -1;
  return rows_name_order(left, right);
}

static int rows_label_order(const void *a, const void *b) {
  const int order = rows_key_order(a, b);

  return order ? order : rows_total_order(a, b);
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
  /* Skip a name that has no samples, because all its spans have got another
   * name. */
  for (i = 0; i < report->span_name_count; i++) {
    if (rows[i].self.value || rows[i].total.value || rows[i].spans)
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
  size_t i, count = 0;

  for (i = 0; i < report->function_count; i++) {
    const sp_report_function *function = &report->functions[i];
    sp_report_row *row = &rows[count];

    *row = (sp_report_row){.self = function->self,
                           .total = function->total,
                           .line = function->line};
    rows_name(report, function->name, row);
    row->file =
        sp_name_table_get(&report->names, function->file, &row->file_bytes);
    /* Skip functions that occur only in excluded stacks. */
    count += function->total.samples != 0;
  }
  return count;
}

static size_t rows_of_labels(const sp_report *report, sp_report_row *rows) {
  size_t i;

  for (i = 0; i < report->label_count; i++) {
    const sp_report_label_row *label = &report->labels[i];

    rows[i] = (sp_report_row){.self = label->amount, .total = label->amount};
    rows_name(report, label->value, &rows[i]);
    rows[i].file =
        sp_name_table_get(&report->names, label->key, &rows[i].file_bytes);
  }
  return i;
}

typedef struct rows_maker {
  size_t most;
  size_t (*make)(const sp_report *report, sp_report_row *rows);
} rows_maker;

spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_order order, sp_report_row **out,
                               size_t *count) {
  const rows_maker makers[] = {
      [SP_REPORT_SPAN_NAMES] = {report->span_name_count, rows_of_span_names},
      [SP_REPORT_SPANS] = {report->span_count, rows_of_spans},
      [SP_REPORT_FUNCTIONS] = {report->function_count, rows_of_functions},
      [SP_REPORT_LABELS] = {report->label_count, rows_of_labels},
  };
  const bool by_self =
      order == SP_REPORT_BY_SELF ||
      (order == SP_REPORT_BY_DEFAULT && table == SP_REPORT_FUNCTIONS);
  sp_report_row *rows =
      sp_mem_new(report->mem, (makers[table].most + 1) * sizeof *rows);

  *out = rows;
  *count = 0;
  if (!rows)
    return sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  *count = makers[table].make(report, rows);
  qsort(rows, *count, sizeof *rows,
        table == SP_REPORT_LABELS ? rows_label_order
        : by_self                 ? rows_self_order
                                  : rows_total_order);
  return SPANPROF_OK;
}
