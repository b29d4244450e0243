/* The times in queries, in milliseconds since 1970. */
#ifndef SP_QUERY_TIME_H
#define SP_QUERY_TIME_H

#include "util/base.h"

/* Largest distance of a time from 1970, 73 million years. The difference of two
 * such times, plus one step of a series, fits in 64 bits. */
#define SP_TIME_MS_MAX (INT64_MAX / 4)

/* Convert milliseconds to nanoseconds. Returns the nearest int64_t if the
 * result is out of range. */
static inline int64_t sp_query_ns(int64_t ms) {
  int64_t ns;

  if (__builtin_mul_overflow(ms, INT64_C(1000000), &ns))
    return ms < 0 ? INT64_MIN : INT64_MAX;
  return ns;
}

#endif
