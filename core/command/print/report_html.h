/* A report as one HTML file: the page, with what it shows put into it. */
#ifndef SP_REPORT_HTML_H
#define SP_REPORT_HTML_H

#include <stdio.h>

#include "command/report/report.h"
#include "command/report/report_tree.h"

/* Of so many span names, the dearest, it is written in which stacks their time
 * was. */
#define SP_HTML_SPAN_NAMES_MAX 256

/* Time of a span name, with the spans in it, in a node of the tree. */
typedef struct sp_html_cell {
  uint32_t span_name; /* index of the report's */
  uint32_t node;
  int64_t value;
} sp_html_cell;

/* One report, and what is kept of its stacks while it is added up. */
typedef struct sp_html_side {
  const sp_report *report;
  sp_report_tree tree;
  sp_html_cell *cells;
  size_t cell_count;
  size_t cell_capacity;
  sp_index cell_index;
} sp_html_side;

/* Listen to a report from its beginning; disposed of before it. */
void sp_html_side_init(sp_html_side *side, sp_report *report);
void sp_html_side_dispose(sp_html_side *side);

/* Whether this build has a page. SPANPROF_ERR_UNSUPPORTED, in a sentence. */
spanprof_status sp_report_html_check(void);

/* Write the page with `now`, and with `base` as what it is compared with where
 * that is not NULL. `title` is valid UTF-8. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_UNSUPPORTED. Whether `out` took it is the caller's to ask. */
spanprof_status sp_report_html_write(sp_html_side *now, sp_html_side *base,
                                     const char *title, FILE *out);

#endif
