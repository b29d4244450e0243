/* How long spans took, row by row of a table, and which duration so many of
 * them did not exceed. */
#ifndef SP_SPAN_DURATIONS_H
#define SP_SPAN_DURATIONS_H

#include "util/memory/mem.h"

typedef struct sp_span_duration {
  uint32_t row;
  int64_t ns;
} sp_span_duration;

/* Zeroed: empty. */
typedef struct sp_span_durations {
  sp_span_duration *list;
  size_t count, room;
} sp_span_durations;

/* SPANPROF_ERR_NOMEM. */
spanprof_status sp_span_durations_add(sp_span_durations *durations,
                                      const sp_mem *mem, uint32_t row,
                                      int64_t ns);

/* Before sp_span_durations_quantile(), after the last is added. */
void sp_span_durations_sort(sp_span_durations *durations);

/* The shortest duration that `percent` (1 to 100) of a row's spans do not
 * exceed: one that was measured, none between two. 0 for a row without any. */
int64_t sp_span_durations_quantile(const sp_span_durations *durations,
                                   uint32_t row, unsigned percent);

void sp_span_durations_dispose(sp_span_durations *durations, const sp_mem *mem);

#endif
