/* Two reports side by side: what grew, and whether that is more than chance. */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "report_rows.h"

/* All rows of a table that are told to differ are so by chance in one of so
 * many pairs of equal ones (Holm's correction for their number). */
#define SP_DIFF_ERROR 1e-5

typedef struct sp_diff_row {
  const char *name;
  size_t name_bytes;
  sp_amount base;
  sp_amount now;
  double p;     /* of so large a difference by chance, of any row; 1 at most */
  double order; /* while they are made */
} sp_diff_row;

typedef struct sp_diff {
  const sp_report *base;
  const sp_report *now;
  double scale;      /* multiplies what is the base's: 1, or to equal totals */
  bool is_of_shares; /* compare shares of each side's total; else values */
  double fail_above; /* share by which a row may grow; below 0: not asked */
  size_t grown;      /* rows that grew more, and by more than chance */
} sp_diff;

/* The rows of one table of both profiles, matched by name: self values of
 * functions, totals otherwise. Rows with the largest change come first, rows
 * whose change is within chance last. The caller frees them with base->mem.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_rows(const sp_diff *diff, sp_report_table table,
                             sp_diff_row **out, size_t *count);

/* now / base - 1; infinite where the base has nothing. */
double sp_diff_change(const sp_diff *diff, const sp_diff_row *row);

static inline bool sp_diff_differs(const sp_diff_row *row) {
  return row->p <= SP_DIFF_ERROR;
}

/* Whether the row grew beyond fail_above, and beyond chance. */
bool sp_diff_grew(const sp_diff *diff, const sp_diff_row *row);

/* The table that is judged: of the label it was grouped by, else of span names.
 */
sp_report_table sp_diff_judged(const sp_diff *diff);

#endif
