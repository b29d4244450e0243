/* The file format of speedscope, "sampled" and "evented":
 * https://www.speedscope.app/file-format-schema.json. */
#ifndef SP_SPEEDSCOPE_H
#define SP_SPEEDSCOPE_H

#include <jansson.h>

#include "stack_list.h"

typedef struct sp_speedscope_profile {
  sp_view name;
  const char *unit; /* "milliseconds", "none", … */
  int64_t value_ns; /* nanoseconds per value of a stack; 0 if not a time */
} sp_speedscope_profile;

/* Parse a file. Refuses as malformed. Free *out, then *placeholder, also after
 * a refusal; *placeholder accounts for the memory of *out (json_wire.h). */
spanprof_status sp_speedscope_open(json_t **out, const sp_mem *mem,
                                   sp_view text, void **placeholder,
                                   sp_refusal *refusal);

/* Number of profiles. */
size_t sp_speedscope_count(const json_t *root);

/* Returns the unit of profile number `i` in nanoseconds; 0 if it is not a time.
 */
int64_t sp_speedscope_unit_ns(const json_t *root, size_t i);

/* Receives a stack, outermost frame first, and its weight in units of the
 * profile. Names point into the file. `is_call`: the weight is the time before
 * a call. */
typedef spanprof_status (*sp_speedscope_visit)(void *data,
                                               const sp_view *frames,
                                               size_t count, double weight,
                                               bool is_call);

/* Visit the stacks of profile number `i`. Returns the first status of `visit`
 * other than SPANPROF_OK. Refuses as malformed. */
spanprof_status sp_speedscope_each(const json_t *root, size_t i,
                                   const sp_mem *mem, sp_speedscope_visit visit,
                                   void *data, sp_refusal *refusal);

/* Add the stacks of profile number `i` to a list. */
spanprof_status sp_speedscope_read(const json_t *root, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list);

#endif
