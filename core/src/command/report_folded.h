/* Folded stacks, "outer;inner value" a line, as flame graph tools read them.
 * Lines of one stack add up there, so that what does not fit into memory is
 * simply written before the end. */
#ifndef SP_REPORT_FOLDED_H
#define SP_REPORT_FOLDED_H

#include <stdio.h>

#include "report.h"

/* Numbers of functions held: 16 MB. */
#define SP_REPORT_FOLDED_MAX ((size_t)4 << 20)

typedef struct sp_folded_stack {
  size_t at; /* in numbers */
  uint32_t count;
  int64_t value;
  const uint32_t *numbers; /* while sorting */
} sp_folded_stack;

typedef struct sp_report_folded {
  const sp_report *report;
  FILE *out;
  size_t numbers_max;
  sp_folded_stack *stacks;
  size_t stack_count;
  size_t stack_capacity;
  uint32_t *numbers;
  size_t number_count;
  size_t number_capacity;
  sp_index index;
} sp_report_folded;

/* `report` outlives it; its listener is to be sp_report_folded_stack(). */
void sp_report_folded_init(sp_report_folded *folded, const sp_report *report,
                           FILE *out);
void sp_report_folded_dispose(sp_report_folded *folded);

/* A sp_report_listener's `stack`; `data` is the sp_report_folded. */
spanprof_status sp_report_folded_stack(void *data, const uint32_t *functions,
                                       size_t count, int64_t value);

/* Write what is held, largest first, and forget it. */
void sp_report_folded_flush(sp_report_folded *folded);

#endif
