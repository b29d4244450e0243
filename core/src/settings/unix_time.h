/* Reads points in time as people and links write them. The command and the
 * server read all such times by this function. */
#ifndef SP_UNIX_TIME_H
#define SP_UNIX_TIME_H

#include "util/base.h"

/* Returns the seconds by which local time is ahead of UTC at a Unix time. */
typedef int64_t sp_utc_offset(int64_t unix_s);

/* A point in time, or a day or another period that a text names, in nanoseconds
 * since 1970. Both members of a point in time are equal. */
typedef struct sp_unix_period {
  int64_t from_ns;
  int64_t until_ns; /* the end, which does not belong to the period */
} sp_unix_period;

/* Read a point in time or a period. Times before 1970 are negative.
 *
 *   now, now-1h30m, now+5min, -1h30m, +5min  relative to `now_ns`; units as for
 *                                            sp_duration_parse_long(), by
 *                                            default seconds
 *   1h30m                                    this long ago
 *   now/d, now-1d/d                          the minute (m), hour (h), day (d)
 *                                            or week (w) that contains the time
 *   1795434000, 1795434000.5                 Unix time: 13 digits before the
 *                                            point are ms, 16 are µs, 19 are
 *                                            ns, all other counts are seconds
 *   20261123                                 a day
 *   2026-11-23T16:00:00.5Z                   RFC 3339; T may be a space, zone
 *                                            and seconds may be missing; a day
 *                                            without a time is a period
 *   today, yesterday, yesterday 14:05        a day, or a time of the day
 *   this week, last week                     from Monday to Monday
 *   14:05, 9:05, 14:05:30Z                   today
 *
 * A zone is Z, UTC, +02:00 or +0200. Spaces and tabs around the text are
 * ignored. `local` gives the time zone of days and of times without a zone;
 * NULL stands for UTC. If a Unix time or a day is out of range, the result is
 * the nearest time in range (1677 to 2262).
 *
 * Returns NULL, or a sentence for the user that follows `Can't read "TEXT".`;
 * both members of *out are then `now_ns`. Any thread may call this function. */
const char *sp_unix_period_parse(const char *text, int64_t now_ns,
                                 sp_utc_offset *local, sp_unix_period *out);

/* Do the same as sp_unix_period_parse(), but return only the beginning. */
const char *sp_unix_time_parse(const char *text, int64_t now_ns,
                               sp_utc_offset *local, int64_t *out_ns);

/* Return the end of a range. That is the beginning of `until` or, if the range
 * would then be empty, the end of `until`. So "yesterday" as both ends, or as
 * the only one, is the whole day. */
int64_t sp_unix_period_end(const sp_unix_period *from,
                           const sp_unix_period *until);

#endif
