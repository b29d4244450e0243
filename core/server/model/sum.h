/* Sums of values that clients sent. */
#ifndef SP_SUM_H
#define SP_SUM_H

#include <stdint.h>

/* Returns a + b, or the nearest int64_t if the sum overflows. */
static inline int64_t sp_sum(int64_t a, int64_t b) {
  int64_t sum;

  return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? INT64_MAX : INT64_MIN)
                                            : sum;
}

static inline void sp_increase(int64_t *sum, int64_t more) {
  *sum = sp_sum(*sum, more);
}

#endif
