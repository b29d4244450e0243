/* A report on paper: tables for people, JSON for programs. */
#ifndef SP_REPORT_PRINT_H
#define SP_REPORT_PRINT_H

#include <stdio.h>

#include "report.h"

/* At most `top` rows of each table; 0: all. SPANPROF_ERR_NOMEM. Whether `out`
 * took it is the caller's to ask. */
spanprof_status sp_report_print_text(const sp_report *report, size_t top,
                                     FILE *out);

/* One object: profiles, start_ns and end_ns (Unix time; null: unknown), type,
 * unit, total (of all samples), value (of those asked for), span_names (name,
 * spans, self, total), spans (name, id, self, total), functions (name, file or
 * module, self, total), forgotten_spans. Values are whole numbers of the unit;
 * a span's total is that of its descendants too. */
spanprof_status sp_report_print_json(const sp_report *report, size_t top,
                                     FILE *out);

#endif
