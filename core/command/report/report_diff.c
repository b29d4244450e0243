#include "report_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binomial.h"
#include "util/system/status.h"

static int diff_name_order(const void *a, const void *b) {
  const sp_report_row *left = a, *right = b;
  const size_t shorter =
      (size_t)sp_min_u64(left->name_bytes, right->name_bytes);
  int order = shorter ? memcmp(left->name, right->name, shorter) : 0;

  return order ? order
               : (left->name_bytes > right->name_bytes) -
                     (left->name_bytes < right->name_bytes);
}

static const sp_amount *diff_amount(sp_report_table table,
                                    const sp_report_row *row) {
  return table == SP_REPORT_FUNCTIONS ? &row->self : &row->total;
}

/* The rows of one report, sorted by name. diff_merge() has read the rows before
 * `at`. */
typedef struct diff_side {
  sp_report_row *rows;
  size_t count;
  size_t at;
} diff_side;

static spanprof_status diff_side_init(diff_side *side, const sp_report *report,
                                      sp_report_table table) {
  spanprof_status st = sp_report_rows(report, table, SP_REPORT_BY_DEFAULT,
                                      &side->rows, &side->count);

  if (!st && side->count)
    qsort(side->rows, side->count, sizeof *side->rows, diff_name_order);
  return st;
}

/* Add up the rows with the name of `name`. Functions with the same name in
 * several files become one row, because a file may have been moved between the
 * two profiles. */
static void diff_side_sum(diff_side *side, sp_report_table table,
                          const sp_report_row *name, sp_amount *out) {
  for (; side->at < side->count &&
         diff_name_order(&side->rows[side->at], name) == 0;
       side->at++)
    sp_amount_add(out, diff_amount(table, &side->rows[side->at]));
}

static size_t diff_merge(diff_side *base, diff_side *now, sp_report_table table,
                         sp_diff_row *rows) {
  size_t count = 0;

  while (base->at < base->count || now->at < now->count) {
    const sp_report_row *left =
        base->at < base->count ? &base->rows[base->at] : NULL;
    const sp_report_row *right =
        now->at < now->count ? &now->rows[now->at] : NULL;
    const sp_report_row *name =
        !right || (left && diff_name_order(left, right) <= 0) ? left : right;
    sp_diff_row *row = &rows[count];

    *row = (sp_diff_row){.name = name->name, .name_bytes = name->name_bytes};
    diff_side_sum(base, table, name, &row->base);
    diff_side_sum(now, table, name, &row->now);
    count += row->base.value || row->now.value;
  }
  return count;
}

/* Returns the average value of one sample, or 1 if it is unknown. */
static double diff_weight(const sp_report *report) {
  return report->all.samples > 0 && report->all.value > 0
             ? (double)report->all.value / (double)report->all.samples
             : 1;
}

static int diff_p_order(const void *a, const void *b) {
  const sp_diff_row *left = a, *right = b;

  return left->p < right->p ? -1 : left->p > right->p;
}

static uint64_t diff_count(int64_t samples) {
  return samples > 0 ? (uint64_t)samples : 0;
}

/* Compute `p` of each row. It is corrected for the number of rows, since chance
 * makes a large difference more often in many rows (S. Holm, A simple
 * sequentially rejective multiple test procedure, Scand. J. Statist. 6, 1979).
 */
static void diff_compute_p(const sp_diff *diff, sp_diff_row *rows,
                           size_t count) {
  const double base_weight = diff_weight(diff->base);
  const double now_weight = diff_weight(diff->now);
  /* The expected share of `now` in the samples of both sides if the values are
   * equal. */
  const double share =
      diff->scale / now_weight / (1 / base_weight + diff->scale / now_weight);
  double largest = 0;
  size_t i;

  for (i = 0; i < count; i++)
    rows[i].p = sp_binomial_split(diff_count(rows[i].base.samples),
                                  diff_count(rows[i].now.samples), share);
  if (count)
    qsort(rows, count, sizeof *rows, diff_p_order);
  for (i = 0; i < count; i++) {
    largest = fmax(largest, fmin(1, rows[i].p * (double)(count - i)));
    rows[i].p = largest;
  }
}

/* Rows whose change is within chance come last, and are not ordered by change.
 */
static int diff_order(const void *a, const void *b) {
  const sp_diff_row *left = a, *right = b;

  if (sp_diff_differs(left) != sp_diff_differs(right))
    return sp_diff_differs(left) ? -1 : 1;
  if (left->order != right->order)
    return left->order < right->order ? 1 : -1;
  if (left->now.value != right->now.value)
    return left->now.value < right->now.value ? 1 : -1;
  return left->name_bytes < right->name_bytes ? -1
         : left->name_bytes > right->name_bytes
             ? 1
             : memcmp(left->name, right->name, left->name_bytes);
}

spanprof_status sp_diff_rows(const sp_diff *diff, sp_report_table table,
                             sp_diff_row **out, size_t *count) {
  const sp_mem *mem = diff->base->mem;
  diff_side base = {0}, now = {0};
  spanprof_status st = diff_side_init(&base, diff->base, table);
  size_t i;

  *out = NULL;
  *count = 0;
  if (!st)
    st = diff_side_init(&now, diff->now, table);
  if (!st) {
    *out = sp_mem_new(mem, (base.count + now.count + 1) * sizeof **out);
    if (!*out)
      st = sp_fail(SPANPROF_ERR_NOMEM, "out of memory");
  }
  if (!st) {
    *count = diff_merge(&base, &now, table, *out);
    diff_compute_p(diff, *out, *count);
    for (i = 0; i < *count; i++)
      (*out)[i].order = fabs((double)(*out)[i].now.value -
                             (double)(*out)[i].base.value * diff->scale);
    if (*count)
      qsort(*out, *count, sizeof **out, diff_order);
  }
  sp_mem_free(mem, base.rows);
  sp_mem_free(diff->now->mem, now.rows);
  return st;
}

double sp_diff_change(const sp_diff *diff, const sp_diff_row *row) {
  const double base = (double)row->base.value * diff->scale;

  return base > 0 ? (double)row->now.value / base - 1 : INFINITY;
}

bool sp_diff_grew(const sp_diff *diff, const sp_diff_row *row) {
  return diff->fail_above >= 0 && sp_diff_differs(row) &&
         sp_diff_change(diff, row) > diff->fail_above;
}

sp_report_table sp_diff_checked_table(const sp_diff *diff) {
  return diff->now->options->group_by ? SP_REPORT_LABELS : SP_REPORT_SPAN_NAMES;
}
