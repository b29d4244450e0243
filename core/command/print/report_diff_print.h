/* Prints what `report` found to differ between two profiles. */
#ifndef SP_REPORT_DIFF_PRINT_H
#define SP_REPORT_DIFF_PRINT_H

#include "command/report/report_diff.h"
#include "report_print.h"

/* Print, and count diff->grown. SPANPROF_ERR_NOMEM. */
spanprof_status sp_diff_print_text(sp_diff *diff, sp_report_printer *printer);

/* One object: base and now (profiles, value, samples), type, unit, scale,
 * fail_above (null: not asked), grown, and tables span_names or groups, and
 * functions: name, base, now, base_samples, now_samples, change (null: the base
 * has none), p, differs, grew. */
spanprof_status sp_diff_print_json(sp_diff *diff,
                                   const sp_report_printer *printer);

#endif
