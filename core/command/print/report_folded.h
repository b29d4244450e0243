/* Writes folded stacks, a line "outer;inner value" for each stack, as flame
 * graph tools read them. If the stacks do not fit into memory, those read so
 * far are written, and a stack that occurs again gets a second line, because
 * flame graph tools add up lines with the same stack. */
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

/* `report` must outlive `folded`. The caller makes sp_report_folded_stack() and
 * sp_report_folded_restart() the listener of the report. */
void sp_report_folded_init(sp_report_folded *folded, sp_report *report,
                           FILE *out);
void sp_report_folded_dispose(sp_report_folded *folded);

/* The functions of the sp_report_listener. `data` is the sp_report_folded. */
spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, const sp_amount *amount);
void sp_report_folded_restart(void *data);

/* Write the stacks in memory, largest first, and free them. Returns SPANPROF_OK
 * or SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_folded_flush(sp_report_folded *folded);

#endif
