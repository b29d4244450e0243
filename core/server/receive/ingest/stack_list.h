/* A list of stacks, as in the text formats: names of frames, outermost first,
 * and one value per stack. */
#ifndef SP_STACK_LIST_H
#define SP_STACK_LIST_H

#include "server/receive/profile/raw_profile.h"
#include "util/memory/hash_index.h"

typedef struct sp_stack_entry {
  size_t first; /* index of the first frame in `frames` */
  size_t count;
  uint64_t value; /* a sum that overflows wraps around, as in Pyroscope */
} sp_stack_entry;

typedef struct sp_stack_list {
  sp_arena *arena;
  sp_refusal *refusal;
  sp_view *names;
  sp_stack_entry *stacks;
  uint32_t *frames; /* frames of all stacks, as indexes in `names` */
  size_t name_count, name_capacity;
  size_t stack_count, stack_capacity;
  size_t frame_count, frame_capacity;
  sp_index name_index, stack_index;
} sp_stack_list;

void sp_stack_list_init(sp_stack_list *list, sp_arena *arena,
                        sp_refusal *refusal);
void sp_stack_list_dispose(sp_stack_list *list);

/* Add a stack. The names are borrowed. The values of equal stacks are
 * summed. */
spanprof_status sp_stack_list_add(sp_stack_list *list, const sp_view *frames,
                                  size_t count, uint64_t value);

/* Add a stack such as "main;leaf". An empty last frame is ignored. */
spanprof_status sp_stack_list_add_key(sp_stack_list *list, sp_view key,
                                      uint64_t value);

typedef struct sp_stack_meta {
  const char *type;
  const char *unit;
  const char *period_type; /* may be NULL */
  const char *period_unit;
  int64_t period;
  uint64_t scale;  /* multiplies every value */
  sp_view span_id; /* span of every sample, in hexadecimal digits, or empty */
  int64_t time_ns;
} sp_stack_meta;

/* Convert the list to a profile of one type. The profile is in the list's
 * arena. Texts of `meta` are borrowed. */
spanprof_status sp_stack_list_profile(const sp_stack_list *list,
                                      const sp_stack_meta *meta,
                                      sp_raw_profile *out);

#endif
