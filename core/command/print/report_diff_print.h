/* Prints the differences between two profiles. */
#ifndef SP_REPORT_DIFF_PRINT_H
#define SP_REPORT_DIFF_PRINT_H

#include "command/report/report_diff.h"
#include "report_print.h"

/* Print the tables, and set diff->grown. SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_print_text(sp_diff *diff, sp_report_printer *printer);

/* Print one object: base and now (profiles, value, samples), type, unit, scale,
 * fail_above (null: no limit), grown, and the tables span_names or groups, and
 * functions: name, base, now, base_samples, now_samples, change (null: the base
 * is zero), p, differs, grew. */
spanprof_status sp_diff_print_json(sp_diff *diff,
                                   const sp_report_printer *printer);

#endif
