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
 * value, spans), spans (id, name, value), functions (name, file or module,
 * self, total), forgotten_spans. Values are whole numbers of the unit. */
spanprof_status sp_report_print_json(const sp_report *report, size_t top,
                                     FILE *out);

#endif
