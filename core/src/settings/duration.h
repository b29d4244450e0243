/* Lengths of time as people write them: "10", "10s", "0.5", "1m30s". */
#ifndef SP_DURATION_H
#define SP_DURATION_H

#include "util/base.h"

/* Numbers, with decimals or without, and their units (ns, us, ms, s, m, h, d);
 * a number that is alone and has none counts `bare_unit_ns`. What is below a
 * nanosecond is cut off, spaces around and between are ignored. Units are those
 * of the Pyroscope Java agent (IntervalParser.java, commit 08445b64) and longer
 * ones. SPANPROF_ERR_FORMAT: not a duration. SPANPROF_ERR_LIMIT: too long for
 * 64 bits of nanoseconds. Leaves spanprof_last_error() alone. */
spanprof_status sp_duration_parse(const char *text, uint64_t bare_unit_ns,
                                  uint64_t *out_ns);

#endif
