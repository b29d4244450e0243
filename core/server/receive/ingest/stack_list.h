/* Stacks by the names of their frames, outermost first, with one value each:
 * what the text formats hold. */
#ifndef SP_STACK_LIST_H
#define SP_STACK_LIST_H

#include "server/receive/profile/raw_profile.h"
#include "util/memory/hash_index.h"

typedef struct sp_stack_entry {
  size_t first; /* of frames */
  size_t count;
  uint64_t value; /* sums wrap, as the recorded ones do */
} sp_stack_entry;

typedef struct sp_stack_list {
  sp_arena *arena;
  sp_refusal *refusal;
  sp_view *names;
  sp_stack_entry *stacks;
  uint32_t *frames; /* numbers of names */
  size_t name_count, name_room;
  size_t stack_count, stack_room;
  size_t frame_count, frame_room;
  sp_index name_index, stack_index;
} sp_stack_list;

void sp_stack_list_init(sp_stack_list *list, sp_arena *arena,
                        sp_refusal *refusal);
void sp_stack_list_dispose(sp_stack_list *list);

/* Names are borrowed. Of equal stacks the values add up. */
spanprof_status sp_stack_list_add(sp_stack_list *list, const sp_view *frames,
                                  size_t count, uint64_t value);

/* "main;leaf": an empty last frame is none. */
spanprof_status sp_stack_list_add_key(sp_stack_list *list, sp_view key,
                                      uint64_t value);

typedef struct sp_stack_meta {
  const char *type;
  const char *unit;
  const char *period_type; /* NULL: none */
  const char *period_unit;
  int64_t period;
  uint64_t scale;  /* of every value */
  sp_view span_id; /* of every sample, as hexadecimal digits; empty: none */
  int64_t time_ns;
} sp_stack_meta;

/* As a profile of one type, in the arena. Texts of `meta` are borrowed. */
spanprof_status sp_stack_list_profile(const sp_stack_list *list,
                                      const sp_stack_meta *meta,
                                      sp_raw_profile *out);

#endif
