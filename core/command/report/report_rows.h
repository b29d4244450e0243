/* The tables of a report, sorted for printing. */
#ifndef SP_REPORT_ROWS_H
#define SP_REPORT_ROWS_H

#include "report.h"

typedef enum sp_report_table {
  SP_REPORT_SPAN_NAMES,
  SP_REPORT_SPANS,
  SP_REPORT_FUNCTIONS,
  SP_REPORT_LABELS,
} sp_report_table;

typedef enum sp_report_order {
  SP_REPORT_BY_DEFAULT, /* functions by self, others by total */
  SP_REPORT_BY_SELF,
  SP_REPORT_BY_TOTAL,
} sp_report_order;

/* Texts belong to the report and have no NUL. */
typedef struct sp_report_row {
  const char *name; /* labels: the value */
  size_t name_bytes;
  const char *file; /* functions; labels: the key, by which they are sorted */
  size_t file_bytes;
  int64_t line;   /* functions; 0: unknown */
  uint64_t id;    /* spans */
  uint64_t spans; /* span names: how many spans have it */
  sp_amount self;
  sp_amount total; /* spans: with descendants; functions: with callees */
} sp_report_row;

/* Make the rows. The caller frees them with report->mem. Items without a
 * selected sample have no row. SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_order order, sp_report_row **out,
                               size_t *count);

#endif
