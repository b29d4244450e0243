/* Values, shares and colours as pprof's graphs show them. */
#ifndef SP_DOT_VALUE_H
#define SP_DOT_VALUE_H

#include "util/memory/buffer.h"

/* The unit that all values of a graph are shown in. */
typedef struct sp_dot_unit {
  const char *name; /* "s" */
  double size;      /* of the values' own unit */
} sp_dot_unit;

/* Fits the smallest value that is not 0, unless the total is much larger. */
sp_dot_unit sp_dot_unit_of(const char *unit, int64_t smallest, int64_t total);

/* "2.89s" */
void sp_dot_value(sp_buffer *out, const sp_dot_unit *unit, int64_t value);

/* "25.51%" */
void sp_dot_share(sp_buffer *out, int64_t value, int64_t total);

/* "#b2a17c": from grey for nothing to red for all. */
void sp_dot_colour(sp_buffer *out, double share, bool is_background);

#endif
