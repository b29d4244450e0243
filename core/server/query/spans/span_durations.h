/* The durations of spans for each row of a table, and their quantiles. */
#ifndef SP_SPAN_DURATIONS_H
#define SP_SPAN_DURATIONS_H

#include "util/memory/mem.h"

typedef struct sp_span_duration {
  uint32_t row;
  int64_t ns;
} sp_span_duration;

/* Empty if all members are zero. */
typedef struct sp_span_durations {
  sp_span_duration *list;
  size_t count, capacity;
} sp_span_durations;

/* Add the duration of a span. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_span_durations_add(sp_span_durations *durations,
                                      const sp_mem *mem, uint32_t row,
                                      int64_t ns);

/* Call this after the last duration is added and before
 * sp_span_durations_quantile(). */
void sp_span_durations_sort(sp_span_durations *durations);

/* Returns the quantile `percent` (1 to 100) of a row's durations, which is
 * always one of them. Returns 0 for a row without durations. */
int64_t sp_span_durations_quantile(const sp_span_durations *durations,
                                   uint32_t row, unsigned percent);

void sp_span_durations_dispose(sp_span_durations *durations, const sp_mem *mem);

#endif
