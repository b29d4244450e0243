/* The file format of speedscope, with profiles of the types "sampled" and
 * "evented": https://www.speedscope.app/file-format-schema.json. */
#ifndef SP_SPEEDSCOPE_H
#define SP_SPEEDSCOPE_H

#include <jansson.h>

#include "stack_list.h"

typedef struct sp_speedscope_profile {
  sp_view name;
  const char *unit; /* "milliseconds", "none", … */
  /* Nanoseconds for which a stack's value of 1 stands; 0 if values are not
   * times. */
  int64_t value_ns;
} sp_speedscope_profile;

/* Parse a file. Refuses a malformed file with SP_REFUSAL_BROKEN. Free *out and
 * then *placeholder, also after a refusal. *placeholder accounts for the memory
 * of *out: see sp_json_bounded(). */
spanprof_status sp_speedscope_open(json_t **out, const sp_mem *mem,
                                   sp_view text, void **placeholder,
                                   sp_refusal *refusal);

/* Returns the number of profiles in the file. */
size_t sp_speedscope_count(const json_t *root);

/* Returns the unit of profile number `i` in nanoseconds, or 0 if the unit is
 * not a time. */
int64_t sp_speedscope_unit_ns(const json_t *root, size_t i);

/* Receives a stack, outermost frame first, and its weight in units of the
 * profile. The names point into the file. `is_call` means that the weight is
 * the time before a call. */
typedef spanprof_status (*sp_speedscope_visit)(void *data,
                                               const sp_view *frames,
                                               size_t count, double weight,
                                               bool is_call);

/* Visit the stacks of profile number `i`. Returns the first status of `visit`
 * other than SPANPROF_OK. Refuses a malformed profile with
 * SP_REFUSAL_BROKEN. */
spanprof_status sp_speedscope_each(const json_t *root, size_t i,
                                   const sp_mem *mem, sp_speedscope_visit visit,
                                   void *data, sp_refusal *refusal);

/* Add the stacks of profile number `i` to a list. */
spanprof_status sp_speedscope_read(const json_t *root, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list);

#endif
