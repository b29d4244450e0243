/* Writes a report as one HTML file: the web page of core/page with the data
 * embedded. */
#ifndef SP_REPORT_HTML_H
#define SP_REPORT_HTML_H

#include <stdio.h>

#include "command/report/report.h"
#include "command/report/report_tree.h"

/* Largest number of span names whose stacks the page shows separately: those
 * with the largest values. */
#define SP_HTML_SPAN_NAMES_MAX 256

/* The value of the spans of one name and their descendants in one node of the
 * tree of stacks. */
typedef struct sp_html_cell {
  uint32_t span_name; /* index in report->span_names */
  uint32_t node;
  int64_t value;
} sp_html_cell;

/* A side of the page: a report, and its stacks, which are recorded while
 * profiles are added to the report. */
typedef struct sp_html_side {
  const sp_report *report;
  sp_report_tree tree;
  sp_html_cell *cells;
  size_t cell_count;
  size_t cell_capacity;
  sp_index cell_index;
} sp_html_side;

/* Make the side the listener of the report, so that it records the stacks of
 * all profiles that are added from now on. Dispose of the side before the
 * report. */
void sp_html_side_init(sp_html_side *side, sp_report *report);
void sp_html_side_dispose(sp_html_side *side);

/* Returns SPANPROF_ERR_UNSUPPORTED and sets the error message if this build
 * does not include the web page. */
spanprof_status sp_report_html_check(void);

/* Write the page of `now`, compared with `base` if that is not NULL. `title` is
 * valid UTF-8. The caller checks `out` for errors. Returns
 * SPANPROF_ERR_UNSUPPORTED if this build has no page, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_html_write(sp_html_side *now, sp_html_side *base,
                                     const char *title, FILE *out);

#endif
