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
  /* Name of the item; in a table of labels, the value of the label. */
  const char *name;
  size_t name_bytes;
  /* Source file or module of a function; in a table of labels, the key, by
   * which the rows are sorted first. */
  const char *file;
  size_t file_bytes;
  int64_t line;   /* line of a function; 0: unknown */
  uint64_t id;    /* id of a span */
  uint64_t spans; /* number of spans with this span name */
  sp_amount self;
  sp_amount total; /* includes the descendants of a span and the callees of a
                    * function */
} sp_report_row;

/* Make the rows of a table. The caller frees them with report->mem. Items
 * without a selected sample have no row. Returns SPANPROF_OK or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_report_rows(const sp_report *report, sp_report_table table,
                               sp_report_order order, sp_report_row **out,
                               size_t *count);

#endif
