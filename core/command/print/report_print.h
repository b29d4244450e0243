/* A report on paper: tables for people, JSON for programs. Whether `out` took
 * it is the caller's to ask. */
#ifndef SP_REPORT_PRINT_H
#define SP_REPORT_PRINT_H

#include <stdio.h>

#include "command/report/report_peek.h"
#include "command/report/report_rows.h"
#include "command/report/report_tree.h"

typedef struct sp_report_printer {
  FILE *out;
  size_t top; /* rows of each table at most; 0: all */
  sp_report_order order;
  bool doubt_shown; /* a row of too few samples: says what the mark means */
} sp_report_printer;

/* Tables of span names, spans, functions, and of the label it was grouped by;
 * what the profiles say of their making. SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_print_text(const sp_report *report,
                                     sp_report_printer *printer);

/* A table for each label (options->all_labels). */
spanprof_status sp_report_print_labels(const sp_report *report,
                                       sp_report_printer *printer);

/* Callers and callees; sorts the edges. */
void sp_report_print_peek(sp_report_peek *peek, sp_report_printer *printer);

/* Calls, indented, but branches below 1 % where there is a `top`.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_print_tree(const sp_report *report,
                                     const sp_report_tree *tree,
                                     sp_report_printer *printer);

/* One object: profiles, start_ns and end_ns (Unix time; null: unknown), type
 * and unit (null: no profile), total (of all samples), value and samples (of
 * those asked for), forgotten_spans, comments; tables of rows with self, total,
 * self_samples and total_samples: span_names (name, spans), spans (name, id),
 * functions (name, file or module, line where lines are told apart); groups
 * (label, name) with group_by; labels, the same, in place of all others with
 * all_labels; peek, where it is not NULL, in their place too: functions with
 * callers and callees. Values are whole numbers of the unit; a span's total is
 * that of its descendants too. Sorts the edges of `peek`. */
spanprof_status sp_report_print_json(const sp_report *report,
                                     sp_report_peek *peek,
                                     const sp_report_printer *printer);

/* What report_text.c and its neighbours share: the lines above all tables; a
 * value and its share; samples and how sure they are; a name. */
void sp_text_head(const sp_report *report, FILE *out);
void sp_text_value(const sp_report *report, int64_t value, FILE *out);
void sp_text_samples(sp_report_printer *printer, int64_t samples);
void sp_text_name(const sp_report *report, uint32_t name, FILE *out);
void sp_text_function(const sp_report *report, uint32_t function, FILE *out);
void sp_text_doubt(const sp_report_printer *printer);

#endif
