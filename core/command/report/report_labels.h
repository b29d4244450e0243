/* The part of a report about labels. */
#ifndef SP_REPORT_LABELS_H
#define SP_REPORT_LABELS_H

#include "report.h"

#define SP_REPORT_NO_VALUE "(none)"
#define SP_REPORT_OTHER    "[other]"

/* Add a sample to the sum of its value of the label options->group_by, or to
 * SP_REPORT_NO_VALUE if it does not have the label. With options->all_labels,
 * add the sample to the sums of its values of all labels, except ids of spans
 * and traces. */
spanprof_status sp_report_labels_add(sp_report *report, const sp_pprof *profile,
                                     const sp_pprof_sample *sample,
                                     const sp_amount *amount);

#endif
