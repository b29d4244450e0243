/* Writes values, shares and colours as pprof's graphs do. */
#ifndef SP_DOT_VALUE_H
#define SP_DOT_VALUE_H

#include "util/memory/buffer.h"

/* The unit for all values of a graph. */
typedef struct sp_dot_unit {
  const char *name; /* "s" */
  double size;      /* in the unit of the values */
} sp_dot_unit;

/* Choose a unit that fits the smallest value other than 0, unless the total is
 * much larger. */
sp_dot_unit sp_dot_unit_of(const char *unit, int64_t smallest, int64_t total);

/* Append "2.89s". */
void sp_dot_value(sp_buffer *out, const sp_dot_unit *unit, int64_t value);

/* Append "25.51%". */
void sp_dot_share(sp_buffer *out, int64_t value, int64_t total);

/* Append a colour, "#b2a17c", from grey for 0 to red for 1. */
void sp_dot_colour(sp_buffer *out, double share, bool is_background);

#endif
