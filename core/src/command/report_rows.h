/* A report's tables, sorted for printing. */
#ifndef SP_REPORT_ROWS_H
#define SP_REPORT_ROWS_H

#include "report.h"

typedef enum sp_report_table {
  SP_REPORT_SPAN_NAMES, /* by total, then self */
  SP_REPORT_SPANS,      /* the same */
  SP_REPORT_FUNCTIONS,  /* by self, then total */
} sp_report_table;

/* Texts are the report's, without a NUL. */
typedef struct sp_report_row {
  const char *name;
  size_t name_bytes;
  const char *file; /* functions */
  size_t file_bytes;
  uint64_t id;    /* spans */
  uint64_t spans; /* span names: how many spans had it */
  int64_t self;
  int64_t total; /* spans: with descendants; functions: with callees */
} sp_report_row;

/* Make the rows; the caller frees them with report->mem. Samples without a span
 * make no row where they are none. SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_row **out, size_t *count);

#endif
