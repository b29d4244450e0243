/* The part of a report about spans and their names. */
#ifndef SP_REPORT_SPANS_H
#define SP_REPORT_SPANS_H

#include "report.h"

#define SP_REPORT_NO_SPAN "(no span)"
#define SP_REPORT_UNNAMED "(no name)"

/* Add the span name of samples without a span, which has index 0. Returns
 * SPANPROF_OK or SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_spans_init(sp_report *report);

spanprof_status sp_report_spans_add(sp_report *report,
                                    const sp_pprof_sample *sample,
                                    const sp_amount *amount);

#endif
