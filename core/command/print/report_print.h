/* Prints a report: tables for people, JSON for programs. The caller checks
 * `out` for errors. */
#ifndef SP_REPORT_PRINT_H
#define SP_REPORT_PRINT_H

#include <stdio.h>

#include "command/report/report_peek.h"
#include "command/report/report_rows.h"
#include "command/report/report_tree.h"

typedef struct sp_report_printer {
  FILE *out;
  size_t top; /* largest number of rows of each table; 0: all */
  sp_report_order order;
  bool unranked_shown; /* a row had too few samples to rank and was printed with
                        * a "?", which is then explained */
} sp_report_printer;

/* Print tables of span names, spans, functions, and the label of --group-by,
 * and the profiles' comments. SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_print_text(const sp_report *report,
                                     sp_report_printer *printer);

/* Print a table for each label (options->all_labels). */
spanprof_status sp_report_print_labels(const sp_report *report,
                                       sp_report_printer *printer);

/* Print callers and callees; sorts the edges. */
void sp_report_print_peek(sp_report_peek *peek, sp_report_printer *printer);

/* Print calls, indented. With a `top`, branches below 1 % are omitted.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_print_tree(const sp_report *report,
                                     const sp_report_tree *tree,
                                     sp_report_printer *printer);

/* Print one object: profiles, start_ns and end_ns (Unix time; null: unknown),
 * type and unit (null: no profile), total (of all samples), value and samples
 * (of the selected samples), forgotten_spans, comments; tables of rows with
 * self, total, self_samples and total_samples: span_names (name, spans), spans
 * (name, id), functions (name, file or module, line with --lines), groups
 * (label, name) with group_by. With all_labels, the only table is labels
 * (label, name). If `peek` is not NULL, the only table is peek: functions with
 * callers and callees. Values are whole numbers of the unit. The total of a
 * span includes its descendants. Sorts the edges of `peek`. */
spanprof_status sp_report_print_json(const sp_report *report,
                                     sp_report_peek *peek,
                                     const sp_report_printer *printer);

/* Parts of the text output that several files of this folder use: the lines
 * above all tables; a value and its share; a number of samples and its
 * uncertainty; a name; a function; the explanation of "?". */
void sp_text_head(const sp_report *report, FILE *out);
void sp_text_value(const sp_report *report, int64_t value, FILE *out);
void sp_text_samples(sp_report_printer *printer, int64_t samples);
void sp_text_name(const sp_report *report, uint32_t name, FILE *out);
void sp_text_function(const sp_report *report, uint32_t function, FILE *out);
void sp_text_explain_unranked(const sp_report_printer *printer);

#endif
