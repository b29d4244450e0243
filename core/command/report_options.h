/* The options of `spanprof report` and `spanprof labels`, and their help. */
#ifndef SP_REPORT_OPTIONS_H
#define SP_REPORT_OPTIONS_H

#include "command/shared/arguments.h"

typedef enum sp_report_option {
  SP_REPORT_OPTION_SPAN,
  SP_REPORT_OPTION_SPAN_NAME,
  SP_REPORT_OPTION_SELF,
  SP_REPORT_OPTION_LABEL,
  SP_REPORT_OPTION_FOCUS,
  SP_REPORT_OPTION_IGNORE,
  SP_REPORT_OPTION_FROM,
  SP_REPORT_OPTION_UNTIL,
  SP_REPORT_OPTION_APPLICATION,
  SP_REPORT_OPTION_PROCESS,
  SP_REPORT_OPTION_SERVER,
  SP_REPORT_OPTION_QUERY,
  SP_REPORT_OPTION_TOKEN,
  SP_REPORT_OPTION_TYPE,
  SP_REPORT_OPTION_TOP,
  SP_REPORT_OPTION_JSON,
  SP_REPORT_OPTIONS_OF_LABELS, /* `spanprof labels` has only the options before
                                * this one */
  SP_REPORT_OPTION_GROUP_BY = SP_REPORT_OPTIONS_OF_LABELS,
  SP_REPORT_OPTION_SORT,
  SP_REPORT_OPTION_LINES,
  SP_REPORT_OPTION_MINE,
  SP_REPORT_OPTION_PEEK,
  SP_REPORT_OPTION_TREE,
  SP_REPORT_OPTION_FOLDED,
  SP_REPORT_OPTION_DIFF,
  SP_REPORT_OPTION_DIFF_FROM,
  SP_REPORT_OPTION_DIFF_UNTIL,
  SP_REPORT_OPTION_FAIL_ABOVE,
  SP_REPORT_OPTION_NORMALIZE,
  SP_REPORT_OPTION_HTML,
  SP_REPORT_OPTION_OPEN,
  SP_REPORT_OPTION_TITLE,
  SP_REPORT_OPTIONS
} sp_report_option;

/* The index is a sp_report_option. */
extern const sp_argument sp_report_options_table[SP_REPORT_OPTIONS];

/* Print the help of `spanprof labels -h` or of `spanprof report -h`. */
void sp_report_options_help(bool labels, FILE *out);

#endif
