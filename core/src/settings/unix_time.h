/* Reads points in time as people and links write them. The command and the
 * server read all such times by this function. */
#ifndef SP_UNIX_TIME_H
#define SP_UNIX_TIME_H

#include "util/base.h"

/* Returns the seconds by which local time is ahead of UTC at a Unix time. */
typedef int64_t sp_utc_offset(int64_t unix_s);

/* Read a point in time into nanoseconds since 1970, which may be negative.
 *
 *   now, now-1h30m, now+5min, -1h30m, +5min  relative to `now_ns`; units as for
 *                                            sp_duration_parse_long(), by
 *                                            default seconds
 *   1h30m                                    this long ago
 *   1795434000, 1795434000.5                 Unix time: 13 digits before the
 *                                            point are ms, 16 are µs, 19 are
 *                                            ns, all other counts are seconds
 *   20261123                                 the beginning of a day
 *   2026-11-23T16:00:00.5Z                   RFC 3339; T may be a space, and
 *                                            zone, seconds and time may be
 *                                            missing
 *   today, yesterday, yesterday 14:05        the beginning of the day without
 *                                            a time
 *   14:05, 14:05:30Z                         today
 *
 * Spaces and tabs around the text are ignored. `local` gives the time zone of
 * days and of times without a zone; NULL stands for UTC. If a Unix time or a
 * day is out of range, the result is the nearest time in range (1677 to 2262).
 *
 * Returns NULL, or a sentence for the user about the mistake in `text`; *out_ns
 * is then `now_ns`. Any thread may call this function. */
const char *sp_unix_time_parse(const char *text, int64_t now_ns,
                               sp_utc_offset *local, int64_t *out_ns);

#endif
