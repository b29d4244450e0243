/* speedscope's file format, "sampled" and "evented":
 * https://www.speedscope.app/file-format-schema.json. */
#ifndef SP_SPEEDSCOPE_H
#define SP_SPEEDSCOPE_H

#include <jansson.h>

#include "stack_list.h"

typedef struct sp_speedscope_profile {
  sp_view name;
  const char *unit; /* "milliseconds", "none", … */
  int64_t value_ns; /* one value of a stack in nanoseconds; 0: no time */
} sp_speedscope_profile;

/* Parse a file. Refuses as broken. Free *out, then *held, also then; *held is
 * memory that stands for *out (json_wire.h). */
spanprof_status sp_speedscope_open(json_t **out, const sp_mem *mem,
                                   sp_view text, void **held,
                                   sp_refusal *refusal);

/* Number of profiles. */
size_t sp_speedscope_count(const json_t *root);

/* The unit of profile number `i` in nanoseconds; 0: no time. */
int64_t sp_speedscope_unit_ns(const json_t *root, size_t i);

/* A stack, outermost frame first, and its weight in units of the profile. Its
 * names are the file's. `is_call`: the stack ended because it made a call. */
typedef spanprof_status (*sp_speedscope_visit)(void *data,
                                               const sp_view *frames,
                                               size_t count, double weight,
                                               bool is_call);

/* Visit the stacks of profile number `i`. Returns the first status of `visit`
 * that is not SPANPROF_OK. Refuses as broken. */
spanprof_status sp_speedscope_each(const json_t *root, size_t i,
                                   const sp_mem *mem, sp_speedscope_visit visit,
                                   void *data, sp_refusal *refusal);

/* Add the stacks of profile number `i` to a list. */
spanprof_status sp_speedscope_read(const json_t *root, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list);

#endif
