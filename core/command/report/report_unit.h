/* Units of profiles, and values for people. */
#ifndef SP_REPORT_UNIT_H
#define SP_REPORT_UNIT_H

#include "util/base.h"

#define SP_REPORT_VALUE_BYTES 40

/* The unit values are added up in: nanoseconds for every unit of time, else
 * `unit` itself; *scale is what a value is multiplied with. */
const char *sp_report_unit(const char *unit, int64_t *scale);

/* A value in seconds, bytes with a prefix, or as it is. */
void sp_report_value(int64_t value, const char *unit,
                     char out[SP_REPORT_VALUE_BYTES]);

/* A type as people call it: "CPU" for cpu, others by their names. */
const char *sp_report_type_shown(const char *type);

/* The heading of a column of such values, as wide as they are: "CPU s",
 * "alloc_space"; "value" where the type's name is too long. */
void sp_report_heading(const char *type, const char *unit,
                       char out[SP_REPORT_VALUE_BYTES]);

/* "CPU 1.530 s": a value by itself. */
void sp_report_sentence(const char *type, const char *unit, int64_t value,
                        char *out, size_t size);

/* The share in per cent, "12.3%"; "-" of nothing. */
void sp_report_share(int64_t part, int64_t whole,
                     char out[SP_REPORT_VALUE_BYTES]);

#endif
