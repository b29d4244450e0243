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
  size_t nodes_max; /* smaller nodes become one function "other"; 0: keep
                     * all */
  /* If not NULL, each of stacks->samples is written separately with its labels,
   * span, trace, ancestors and number of samples. The members below are then
   * unused. */
  const sp_span_parents *parents;
  bool drop_unnamed; /* drop stacks with an unnamed location; otherwise, it is
                      * written as its address */
} sp_pprof_reply;

/* Write the fields of the open message. It has only the selected type, and
 * sample labels only with `parents`. Nothing is written if there are no
 * samples. */
spanprof_status sp_pprof_reply_put(sp_reply *reply, const sp_mem *mem,
                                   const sp_pprof_reply *profile);

#endif
