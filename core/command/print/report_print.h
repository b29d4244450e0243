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

/* Print the tables of span names, spans, functions and values of the label of
 * --group-by, and the profiles' comments. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM, like all functions of this file that return a status. */
spanprof_status sp_report_print_text(const sp_report *report,
                                     sp_report_printer *printer);

/* Print a table for each label. Needs report->options->all_labels. */
spanprof_status sp_report_print_labels(const sp_report *report,
                                       sp_report_printer *printer);

/* Print the callers and callees of each function that matches --peek. Sorts the
 * edges of `peek`. */
void sp_report_print_peek(sp_report_peek *peek, sp_report_printer *printer);

/* Print the call tree, indented. Omits branches below 1 % of the total unless
 * printer->top is 0. */
spanprof_status sp_report_print_tree(const sp_report *report,
                                     const sp_report_tree *tree,
                                     sp_report_printer *printer);

/* Print one JSON object with profiles, start_ns and end_ns (Unix time; null:
 * unknown), type and unit (null: no profile), total (value of all samples),
 * value and samples (of the selected samples), forgotten_spans, comments, and
 * tables. The rows of tables have self, total, self_samples and total_samples.
 * Rows of span_names also have name and spans; rows of spans name and id; rows
 * of functions name, file (or module) and, with --lines, line; rows of groups,
 * with group_by, label and name. With all_labels, the only table is labels,
 * whose rows have label and name. If `peek` is not NULL, the only table is
 * peek, whose rows are functions with callers and callees. Values are whole
 * numbers of the unit. The total of a span includes its descendants. Sorts the
 * edges of `peek`. */
spanprof_status sp_report_print_json(const sp_report *report,
                                     sp_report_peek *peek,
                                     const sp_report_printer *printer);

/* Print parts of the text output, for the files of this folder: the lines above
 * all tables; a value and its share; a number of samples and its uncertainty; a
 * name; a function; the explanation of "?" if one was printed. */
void sp_text_head(const sp_report *report, FILE *out);
void sp_text_value(const sp_report *report, int64_t value, FILE *out);
void sp_text_samples(sp_report_printer *printer, int64_t samples);
void sp_text_name(const sp_report *report, uint32_t name, FILE *out);
void sp_text_function(const sp_report *report, uint32_t function, FILE *out);
void sp_text_explain_unranked(const sp_report_printer *printer);

#endif
