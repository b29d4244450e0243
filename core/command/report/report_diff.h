/* Compares two reports: which rows changed, and whether by more than chance. */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "report_rows.h"

/* Probability that the comparison of two equal profiles reports any row as
 * changed: 1 in 1e5. Holm's correction accounts for the number of rows. */
#define SP_DIFF_ERROR 1e-5

typedef struct sp_diff_row {
  const char *name;
  size_t name_bytes;
  sp_amount base;
  sp_amount now;
  double p; /* probability that chance makes a difference this large in any row;
             * at most 1 */
  double order; /* used while sorting */
} sp_diff_row;

typedef struct sp_diff {
  const sp_report *base;
  const sp_report *now;
  double scale;      /* multiplies values of `base`: 1, or a factor that
                      * makes the totals equal */
  bool is_of_shares; /* compare the shares that rows have of their side's total,
                      * not the values */
  double fail_above; /* share by which a row may grow; below 0: no limit */
  size_t grown;      /* rows that grew beyond fail_above, and by more than
                      * chance */
} sp_diff;

/* Make the rows of one table of both reports, matched by name: self values of
 * functions, otherwise totals. Rows with the largest change come first, rows
 * whose change is within chance last. The caller frees them with base->mem.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_rows(const sp_diff *diff, sp_report_table table,
                             sp_diff_row **out, size_t *count);

/* Relative change: now / base - 1. Infinite if the base is zero. */
double sp_diff_change(const sp_diff *diff, const sp_diff_row *row);

static inline bool sp_diff_differs(const sp_diff_row *row) {
  return row->p <= SP_DIFF_ERROR;
}

/* Returns whether the row grew beyond fail_above, and beyond chance. */
bool sp_diff_grew(const sp_diff *diff, const sp_diff_row *row);

/* Returns the table that fail_above applies to: the label of --group-by, or
 * else span names. */
sp_report_table sp_diff_checked_table(const sp_diff *diff);

#endif
