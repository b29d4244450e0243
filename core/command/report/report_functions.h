/* The part of a report about functions. */
#ifndef SP_REPORT_FUNCTIONS_H
#define SP_REPORT_FUNCTIONS_H

#include "report.h"

/* Maps the functions and locations of one profile to indexes of the report's
 * functions. */
typedef struct sp_report_file {
  const sp_pprof *profile;
  uint32_t *of_function; /* index in the report, or SP_INDEX_NONE if not
                          * known yet */
  uint32_t *of_location; /* the same for locations without lines and, with
                          * --lines, for all locations */
} sp_report_file;

spanprof_status sp_report_file_init(sp_report_file *file, const sp_mem *mem,
                                    const sp_pprof *profile);
void sp_report_file_dispose(sp_report_file *file, const sp_mem *mem);

/* Put the functions of a sample's stack into report->stack, innermost first.
 * *depth: their count. Code without a name is "[module]" or "[unknown]"; a
 * sample without a stack is "[no stack]". */
spanprof_status sp_report_functions_find(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         size_t *depth);

/* Returns whether the stack in report->stack matches --focus and --ignore. */
bool sp_report_functions_match(const sp_report *report, size_t depth);

/* Add an amount to the self of the innermost function of report->stack, and to
 * the total of each function in it, once. */
void sp_report_functions_add(sp_report *report, size_t depth,
                             const sp_amount *amount);

#endif
