/* Writes merged stacks as a google.v1.Profile. */
#ifndef SP_PPROF_REPLY_H
#define SP_PPROF_REPLY_H

#include "server/model/stack_tree.h"
#include "server/query/spans/span_parents.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_pprof_reply {
  const sp_stack_tree *stacks;
  const char *profile_type; /* has five parts */
  int64_t time_ms;
  /* Number of nodes to keep: the largest ones. All others become a function
   * called "other". 0: keep all nodes. */
  size_t nodes_max;
  /* If not NULL, each of stacks->samples is written separately with its labels,
   * span, trace, ancestors and number of samples, and the members below are
   * unused. */
  const sp_span_parents *parents;
  /* Drop stacks that have a location without a name. Otherwise, such a location
   * is written as its address. */
  bool drop_unnamed;
} sp_pprof_reply;

/* Write the profile into the message that is open in `reply`. The profile has
 * only the selected type, and labels of samples only with `parents`. Nothing is
 * written if there are no samples. */
spanprof_status sp_pprof_reply_put(sp_reply *reply, const sp_mem *mem,
                                   const sp_pprof_reply *profile);

#endif
