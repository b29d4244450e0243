/* Points in time as people give them. */
#ifndef SP_MOMENT_H
#define SP_MOMENT_H

#include "util/base.h"

/* Unix time in nanoseconds of "now", of "-1h30m", "now-1h30m" or "1h30m" (so
 * long before now; without a unit, seconds), of "2026-11-21T16:00:00Z" (RFC
 * 3339; T may be a space; without seconds, a time or a zone it is UTC's), or of
 * a Unix time: in seconds, also with decimals, or, by its size, in milli-,
 * micro- or nanoseconds, as Grafana's links have it. SPANPROF_ERR_FORMAT: none
 * of these, or before 1970. Leaves spanprof_last_error() alone. */
spanprof_status sp_moment_parse(const char *text, uint64_t now_ns,
                                uint64_t *out_ns);

#endif
