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
  SP_REPORT_BY_DEFAULT, /* functions by self value, everything else by total */
  SP_REPORT_BY_SELF,
  SP_REPORT_BY_TOTAL,
} sp_report_order;

/* A row of a table. The texts belong to the report and have no NUL. */
typedef struct sp_report_row {
  const char *name; /* of labels: the value */
  size_t name_bytes;
  const char *file; /* of functions: the source file or module; of labels: the
                     * key, by which labels are sorted first */
  size_t file_bytes;
  int64_t line;   /* of functions; 0: unknown */
  uint64_t id;    /* of spans */
  uint64_t spans; /* of span names: the number of spans with this name */
  sp_amount self;
  sp_amount total; /* of spans: includes descendants; of functions: includes
                    * callees */
} sp_report_row;

/* Make the rows of a table. The caller frees them with report->mem. Items
 * without a selected sample have no row. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_order order, sp_report_row **out,
                               size_t *count);

#endif
