/* Points in time as people and links write them. */
#ifndef SP_QUERY_TIME_H
#define SP_QUERY_TIME_H

#include "util/base.h"

/* Of a time, before and after 1970, 73 million years: differences of two, and
 * steps beyond them, are in range. */
#define SP_TIME_MS_MAX (INT64_MAX / 4)

/* "now", "now-1h30m" (s, m or min, h, d, w, M or mon, y), "20261123", or a
 * number: 13 digits are ms, 16 µs, 19 ns since 1970, others seconds. Blanks
 * around it are skipped. False: it is none of these, no day of the calendar, or
 * further away than SP_TIME_MS_MAX. */
bool sp_query_time(const char *text, int64_t now_ms, int64_t *out_ms);

/* The same in nanoseconds, for the times of an upload. `now_ns` if the text is
 * NULL or none of these; INT64_MAX if it is a number out of range. */
int64_t sp_query_time_ns(const char *text, int64_t now_ns);

/* Milliseconds as nanoseconds; the nearest that fits where they do not. */
static inline int64_t sp_query_ns(int64_t ms) {
  int64_t ns;

  if (__builtin_mul_overflow(ms, INT64_C(1000000), &ns))
    return ms < 0 ? INT64_MIN : INT64_MAX;
  return ns;
}

#endif
