/* Lengths of time as people write them: "10", "10s", "0.5", "1m30s". */
#ifndef SP_DURATION_H
#define SP_DURATION_H

#include "util/base.h"

/* Read numbers, with or without decimals, and their units: ns, us, ms, s, m, h
 * or d. A number that is alone may have no unit and counts `bare_unit_ns`.
 *
 * Fractions of a nanosecond are cut off. Spaces around and between the parts
 * are ignored. The units are those of the Pyroscope Java agent
 * (IntervalParser.java, commit 08445b64) and longer ones.
 * SPANPROF_ERR_FORMAT: not a duration. SPANPROF_ERR_LIMIT: more than 64 bits
 * of nanoseconds. Leaves spanprof_last_error() unchanged. */
spanprof_status sp_duration_parse(const char *text, uint64_t bare_unit_ns,
                                  uint64_t *out_ns);

/* As sp_duration_parse(), but also accept min (minutes), w (weeks), M or mon
 * (30 days) and y (365 days), the units of Graphite's times. Options do not
 * accept them, because "30M" there would be a mistake for "30m". */
spanprof_status sp_duration_parse_long(const char *text, uint64_t bare_unit_ns,
                                       uint64_t *out_ns);

#endif
