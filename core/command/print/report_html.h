/* A report as one HTML file: the page, with its data embedded. */
#ifndef SP_REPORT_HTML_H
#define SP_REPORT_HTML_H

#include <stdio.h>

#include "command/report/report.h"
#include "command/report/report_tree.h"

/* Largest number of span names whose stacks the page stores separately. The
 * names with the largest values are chosen. */
#define SP_HTML_SPAN_NAMES_MAX 256

/* The value of a span name, including its descendants, in one node of the tree.
 */
typedef struct sp_html_cell {
  uint32_t span_name; /* index in the report */
  uint32_t node;
  int64_t value;
} sp_html_cell;

/* A report, and its stacks, which are recorded while profiles are added to it.
 */
typedef struct sp_html_side {
  const sp_report *report;
  sp_report_tree tree;
  sp_html_cell *cells;
  size_t cell_count;
  size_t cell_capacity;
  sp_index cell_index;
} sp_html_side;

/* Record the stacks of a report from its beginning. Dispose of the side before
 * the report. */
void sp_html_side_init(sp_html_side *side, sp_report *report);
void sp_html_side_dispose(sp_html_side *side);

/* Check that this build includes a page. SPANPROF_ERR_UNSUPPORTED, with a
 * sentence. */
spanprof_status sp_report_html_check(void);

/* Write the page of `now`, compared with `base` if that is not NULL. `title` is
 * valid UTF-8. The caller checks `out` for errors. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_UNSUPPORTED. */
spanprof_status sp_report_html_write(sp_html_side *now, sp_html_side *base,
                                     const char *title, FILE *out);

#endif
