/* Units of profiles, and values formatted for people. */
#ifndef SP_REPORT_UNIT_H
#define SP_REPORT_UNIT_H

#include "util/base.h"

#define SP_REPORT_VALUE_BYTES 40

/* Returns the unit of a report's sums: nanoseconds for every unit of time,
 * otherwise `unit` itself. *scale is the factor that converts values of `unit`.
 */
const char *sp_report_unit(const char *unit, int64_t *scale);

/* Print a value in seconds, in bytes with a prefix, or as it is. */
void sp_report_value(int64_t value, const char *unit,
                     char out[SP_REPORT_VALUE_BYTES]);

/* Returns the type's name for people: "CPU" for cpu, the name itself otherwise.
 */
const char *sp_report_type_shown(const char *type);

/* Print the heading of a column of values, with the width of its values: "CPU
 * s", "alloc_space"; "value" if the type's name is too long. */
void sp_report_heading(const char *type, const char *unit,
                       char out[SP_REPORT_VALUE_BYTES]);

/* Print a value with its type: "CPU 1.530 s". */
void sp_report_sentence(const char *type, const char *unit, int64_t value,
                        char *out, size_t size);

/* Print the share in per cent, "12.3%"; "-" if `whole` is 0. */
void sp_report_share(int64_t part, int64_t whole,
                     char out[SP_REPORT_VALUE_BYTES]);

#endif
