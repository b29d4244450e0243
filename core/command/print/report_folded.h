/* Folded stacks, one line "outer;inner value" each, as flame graph tools read
 * them. These tools add up lines with the same stack. If the stacks do not fit
 * into memory, they are therefore written early, and the same stack may be
 * written again later. */
#ifndef SP_REPORT_FOLDED_H
#define SP_REPORT_FOLDED_H

#include <stdio.h>

#include "command/report/report.h"
#include "command/report/report_tree.h"

typedef struct sp_report_folded {
  sp_report *report;
  FILE *out;
  sp_report_tree tree;
} sp_report_folded;

/* `report` must outlive `folded`. The report's listener must be
 * sp_report_folded_stack(). */
void sp_report_folded_init(sp_report_folded *folded, sp_report *report,
                           FILE *out);
void sp_report_folded_dispose(sp_report_folded *folded);

/* Functions of a sp_report_listener; `data` is the sp_report_folded. */
spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, const sp_amount *amount);
void sp_report_folded_restart(void *data);

/* Write the stacks in memory, largest first, and free them. SPANPROF_ERR_NOMEM.
 */
spanprof_status sp_report_folded_flush(sp_report_folded *folded);

#endif
