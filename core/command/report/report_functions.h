/* The part of a report about functions. */
#ifndef SP_REPORT_FUNCTIONS_H
#define SP_REPORT_FUNCTIONS_H

#include "report.h"

/* One profile's numbers and ours. */
typedef struct sp_report_file {
  const sp_pprof *profile;
  uint32_t *of_function; /* index in the report, or SP_INDEX_NONE: not yet */
  uint32_t *of_location; /* the same, for those without lines, or of one
                            where lines are told apart */
} sp_report_file;

spanprof_status sp_report_file_init(sp_report_file *file, const sp_mem *mem,
                                    const sp_pprof *profile);
void sp_report_file_dispose(sp_report_file *file, const sp_mem *mem);

/* The functions of a sample's stack, left in report->stack, *depth of them,
 * innermost first. Code without a name is "[module]", or "[unknown]"; a sample
 * without a stack is "[no stack]". */
spanprof_status sp_report_functions_find(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         size_t *depth);

/* Whether --focus and --ignore take the stack in report->stack. */
bool sp_report_functions_taken(const sp_report *report, size_t depth);

/* Add to the self amount of the innermost function of report->stack and, once
 * each, to the total of every one in it. */
void sp_report_functions_add(sp_report *report, size_t depth,
                             const sp_amount *amount);

#endif
