/* Compares two reports: which rows changed, and whether by more than chance. */
#ifndef SP_REPORT_DIFF_H
#define SP_REPORT_DIFF_H

#include "report_rows.h"

/* Largest probability that a comparison of two runs of the same program reports
 * any row as changed: 1 in 100,000. */
#define SP_DIFF_ERROR 1e-5

typedef struct sp_diff_row {
  const char *name;
  size_t name_bytes;
  sp_amount base;
  sp_amount now;
  double p; /* probability that chance makes a difference this large in any row
             * of the table */
  double order; /* sort key of the row */
} sp_diff_row;

typedef struct sp_diff {
  const sp_report *base;
  const sp_report *now;
  double scale; /* factor for values of `base`: 1, or the factor that makes the
                 * totals of both sides equal */
  bool is_of_shares; /* compare each row's share of the total of its side, not
                      * the values */
  double fail_above; /* largest growth that is accepted, as a share: 0.1 for 10
                      * %; below 0: no limit */
  size_t grown; /* number of rows that grew by more than fail_above, and by more
                 * than chance */
} sp_diff;

/* Make the rows of one table from the rows of both reports, which are matched
 * by name. The values are self values of functions, and totals of everything
 * else. Rows with the largest change come first, and rows whose change is
 * within chance last. The caller frees the rows with base->mem. Returns
 * SPANPROF_OK or SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_rows(const sp_diff *diff, sp_report_table table,
                             sp_diff_row **out, size_t *count);

/* Returns the relative change, now / base - 1. It is infinite if the base is
 * zero. */
double sp_diff_change(const sp_diff *diff, const sp_diff_row *row);

static inline bool sp_diff_differs(const sp_diff_row *row) {
  return row->p <= SP_DIFF_ERROR;
}

/* Returns whether the row grew by more than fail_above, and by more than
 * chance. */
bool sp_diff_grew(const sp_diff *diff, const sp_diff_row *row);

/* Returns the table that fail_above applies to: the label of --group-by, or
 * else span names. */
sp_report_table sp_diff_checked_table(const sp_diff *diff);

#endif
