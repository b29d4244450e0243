/* Units of profiles, and values formatted for people. */
#ifndef SP_REPORT_UNIT_H
#define SP_REPORT_UNIT_H

#include "util/base.h"

#define SP_REPORT_VALUE_BYTES 40

/* Returns the unit of a report's sums: nanoseconds for every unit of time,
 * otherwise `unit` itself. *scale is the factor that converts values of `unit`.
 */
const char *sp_report_unit(const char *unit, int64_t *scale);

/* Write a value to `out`: time in seconds, bytes with a prefix such as Mi, and
 * other values unchanged. */
void sp_report_value(int64_t value, const char *unit,
                     char out[SP_REPORT_VALUE_BYTES]);

/* Returns the name of a type as people read it: "CPU" for cpu, other names
 * unchanged. */
const char *sp_report_type_shown(const char *type);

/* Write the heading of a column of values to `out`: for example "CPU s" or
 * "alloc_space", or "value" if the name of the type is wider than the column.
 */
void sp_report_heading(const char *type, const char *unit,
                       char out[SP_REPORT_VALUE_BYTES]);

/* Write a value with its type to `out`: "CPU 1.530 s". */
void sp_report_sentence(const char *type, const char *unit, int64_t value,
                        char *out, size_t size);

/* Write the share to `out` in per cent: "12.3%", or "-" if `whole` is 0. */
void sp_report_share(int64_t part, int64_t whole,
                     char out[SP_REPORT_VALUE_BYTES]);

#endif
