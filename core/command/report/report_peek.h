/* The callers and callees of the functions that match --peek. */
#ifndef SP_REPORT_PEEK_H
#define SP_REPORT_PEEK_H

#include "report.h"

typedef enum sp_peek_kind {
  SP_PEEK_CALLER,
  SP_PEEK_ITSELF, /* the function itself; each function has one such edge */
  SP_PEEK_CALLEE,
} sp_peek_kind;

typedef struct sp_peek_edge {
  uint32_t function; /* index of a function that matches --peek */
  uint32_t neighbour;
  /* Whether the neighbour is a caller, a callee or the function itself. */
  sp_peek_kind kind;
  uint64_t last_sample;
  sp_amount amount;
  int64_t order; /* sort key of the edge */
} sp_peek_edge;

typedef struct sp_report_peek {
  const sp_report *report;
  sp_peek_edge *edges;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_report_peek;

/* `report` must outlive `peek`. The caller makes sp_report_peek_stack() and
 * sp_report_peek_restart() the listener of the report. */
void sp_report_peek_init(sp_report_peek *peek, const sp_report *report);
void sp_report_peek_dispose(sp_report_peek *peek);

/* The functions of the sp_report_listener. `data` is the sp_report_peek. */
spanprof_status sp_report_peek_stack(void *data, const uint32_t *functions,
                                     size_t count, const sp_amount *amount);
void sp_report_peek_restart(void *data);

/* Sort the edges by function, the function with the largest total first. The
 * edges of a function are its callers, the function itself, and its callees.
 * Callers and callees with the largest amounts come first. */
void sp_report_peek_sort(sp_report_peek *peek);

#endif
