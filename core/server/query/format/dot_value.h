/* Writes values, shares and colours as pprof's graphs do. */
#ifndef SP_DOT_VALUE_H
#define SP_DOT_VALUE_H

#include "util/memory/buffer.h"

/* The unit for all values of a graph. */
typedef struct sp_dot_unit {
  const char *name; /* "s" */
  double size;      /* size of this unit, in the values' own unit */
} sp_dot_unit;

/* Returns a unit that fits `smallest`, the smallest value other than 0, or a
 * larger one if `total` is much larger. `unit` is the values' own unit. */
sp_dot_unit sp_dot_unit_of(const char *unit, int64_t smallest, int64_t total);

/* Append a value, for example "2.89s". */
void sp_dot_value(sp_buffer *out, const sp_dot_unit *unit, int64_t value);

/* Append a share, for example "25.51%". */
void sp_dot_share(sp_buffer *out, int64_t value, int64_t total);

/* Append a colour such as "#b2a17c", from grey for the share 0 to red for 1. */
void sp_dot_colour(sp_buffer *out, double share, bool is_background);

#endif
