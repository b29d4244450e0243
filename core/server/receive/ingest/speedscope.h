/* speedscope's file format, "sampled" and "evented":
 * https://www.speedscope.app/file-format-schema.json. */
#ifndef SP_SPEEDSCOPE_H
#define SP_SPEEDSCOPE_H

#include "stack_list.h"

typedef struct sp_speedscope sp_speedscope;

typedef struct sp_speedscope_profile {
  sp_view name;
  const char *unit; /* "milliseconds", "none", … */
  int64_t value_ns; /* what one of a stack's values is; 0: no time */
} sp_speedscope_profile;

/* Parse a file. Refuses as broken. */
spanprof_status sp_speedscope_open(sp_speedscope **out, const sp_mem *mem,
                                   sp_view text, sp_refusal *refusal);
void sp_speedscope_free(sp_speedscope *file); /* NULL is fine */

size_t sp_speedscope_count(const sp_speedscope *file);

/* Add the stacks of one; texts are the file's. */
spanprof_status sp_speedscope_read(const sp_speedscope *file, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list);

#endif
