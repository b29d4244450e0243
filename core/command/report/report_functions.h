/* The part of a report about functions. */
#ifndef SP_REPORT_FUNCTIONS_H
#define SP_REPORT_FUNCTIONS_H

#include "report.h"

/* Maps the functions and locations of one profile to indexes of the report's
 * functions. */
typedef struct sp_report_file {
  const sp_pprof *profile;
  uint32_t *of_function; /* for each function of the profile: its index in
                          * report->functions, or SP_INDEX_NONE if it is not
                          * known yet */
  uint32_t *of_location; /* for each location without lines and, with --lines,
                          * for all locations: the index of its function in
                          * report->functions, or SP_INDEX_NONE */
  sp_code_kind own_kind; /* kind of the application's own functions; NONE: not
                          * known yet */
} sp_report_file;

spanprof_status sp_report_file_init(sp_report_file *file, const sp_mem *mem,
                                    const sp_pprof *profile);
void sp_report_file_dispose(sp_report_file *file, const sp_mem *mem);

/* Put the indexes of the functions of a sample's stack into report->stack,
 * innermost first, and their number into *depth. Code without a function name
 * becomes "[module]" or "[unknown]", and a sample without a stack "[no stack]".
 */
spanprof_status sp_report_functions_find(sp_report *report,
                                         sp_report_file *file,
                                         const sp_pprof_sample *sample,
                                         size_t *depth);

/* Remove the functions from report->stack that are not the application's own.
 * If none remains, the stack has one function, "[other code]". */
spanprof_status sp_report_functions_keep_own(sp_report *report,
                                             sp_report_file *file,
                                             size_t *depth);

/* Returns whether the stack in report->stack matches --focus and --ignore. */
bool sp_report_functions_match(const sp_report *report, size_t depth);

/* Add an amount to the self value of the innermost function of report->stack,
 * and once to the total of each function in the stack. */
void sp_report_functions_add(sp_report *report, size_t depth,
                             const sp_amount *amount);

#endif
