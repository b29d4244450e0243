#include "span_durations.h"

#include <stdlib.h>

spanprof_status sp_span_durations_add(sp_span_durations *durations,
                                      const sp_mem *mem, uint32_t row,
                                      int64_t ns) {
  const spanprof_status st =
      sp_mem_reserve(mem, (void **)&durations->list, &durations->capacity,
                     durations->count + 1, sizeof *durations->list);

  if (!st)
    durations->list[durations->count++] =
        (sp_span_duration){.row = row, .ns = ns};
  return st;
}

static int durations_order(const void *a, const void *b) {
  const sp_span_duration *left = a, *right = b;

  if (left->row != right->row)
    return left->row < right->row ? -1 : 1;
  return (left->ns > right->ns) - (left->ns < right->ns);
}

void sp_span_durations_sort(sp_span_durations *durations) {
  if (durations->count)
    qsort(durations->list, durations->count, sizeof *durations->list,
          durations_order);
}

/* Returns the index of the first duration of a row, or of the next row with
 * durations if the row has none. */
static size_t durations_begin(const sp_span_durations *durations,
                              uint64_t row) {
  size_t low = 0, high = durations->count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (durations->list[middle].row < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t sp_span_durations_quantile(const sp_span_durations *durations,
                                   uint32_t row, unsigned percent) {
  const size_t begin = durations_begin(durations, row);
  const size_t count = durations_begin(durations, (uint64_t)row + 1) - begin;
  /* The nearest-rank method. Ranks begin at 1. */
  const size_t rank =
      count / 100 * percent + (count % 100 * percent + 99) / 100;

  return count ? durations->list[begin + rank - 1].ns : 0;
}

void sp_span_durations_dispose(sp_span_durations *durations,
                               const sp_mem *mem) {
  sp_mem_free(mem, durations->list);
  *durations = (sp_span_durations){0};
}
