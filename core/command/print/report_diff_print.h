/* Prints the differences between two profiles. */
#ifndef SP_REPORT_DIFF_PRINT_H
#define SP_REPORT_DIFF_PRINT_H

#include "command/report/report_diff.h"
#include "report_print.h"

/* Print the tables, and set diff->grown. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_print_text(sp_diff *diff, sp_report_printer *printer);

/* Print one JSON object, and set diff->grown. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. Its members are: base and now, objects with profiles,
 * value and samples; type; unit; scale; fail_above (null: no limit); grown; and
 * the tables functions and span_names, or groups with --group-by. Rows have
 * name, base, now, base_samples, now_samples, change (null: the base is zero),
 * p, differs and grew. */
spanprof_status sp_diff_print_json(sp_diff *diff,
                                   const sp_report_printer *printer);

#endif
