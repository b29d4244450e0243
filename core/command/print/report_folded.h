/* Folded stacks, "outer;inner value" a line, as flame graph tools read them.
 * Lines of one stack add up there, so that what does not fit into memory is
 * simply written before the end. */
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

/* `report` outlives it; its listener is to be sp_report_folded_stack(). */
void sp_report_folded_init(sp_report_folded *folded, sp_report *report,
                           FILE *out);
void sp_report_folded_dispose(sp_report_folded *folded);

/* A sp_report_listener's functions; `data` is the sp_report_folded. */
spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, const sp_amount *amount);
void sp_report_folded_restart(void *data);

/* Write what is held, largest first, and forget it. SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_folded_flush(sp_report_folded *folded);

#endif
