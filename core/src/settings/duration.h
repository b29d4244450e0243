/* Lengths of time as people write them: "10", "10s", "0.5", "1m30s". */
#ifndef SP_DURATION_H
#define SP_DURATION_H

#include "util/base.h"

/* Read numbers, with or without decimals, and their units: ns, us, ms, s, m, h
 * or d. A single number may have no unit; its unit is then `bare_unit_ns`.
 *
 * Fractions of a nanosecond are cut off. Spaces around and between the parts
 * are ignored. The units are those of the Pyroscope Java agent
 * (IntervalParser.java, commit 08445b64) and longer ones. Returns
 * SPANPROF_ERR_FORMAT if `text` is not a duration, and SPANPROF_ERR_LIMIT if
 * the nanoseconds do not fit 64 bits. Does not set the last error. */
spanprof_status sp_duration_parse(const char *text, uint64_t bare_unit_ns,
                                  uint64_t *out_ns);

/* Do the same as sp_duration_parse(), but also accept min (minutes), w (weeks),
 * M or mon (30 days) and y (365 days), the units of Graphite's times. Options
 * do not accept these units, because "30M" in an option is probably a mistake
 * for "30m". */
spanprof_status sp_duration_parse_long(const char *text, uint64_t bare_unit_ns,
                                       uint64_t *out_ns);

#endif
