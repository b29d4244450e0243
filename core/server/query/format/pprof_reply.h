/* Merged stacks as a google.v1.Profile. */
#ifndef SP_PPROF_REPLY_H
#define SP_PPROF_REPLY_H

#include "server/model/stack_tree.h"
#include "server/query/spans/span_parents.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_pprof_reply {
  const sp_stack_tree *stacks;
  const char *profile_type; /* of five parts */
  int64_t time_ms;
  size_t nodes_max; /* below the nodes_max-th largest frames are one function
                     * "other"; 0: all stay */
  /* Where they are given, each of stacks->samples stands by itself with its
   * labels, span and trace, the spans it is in, and how many samples were
   * taken; all below is of the others. */
  const sp_span_parents *parents;
  bool drop_unnamed; /* stacks with a location that has no name; else such a
                      * location is its address */
} sp_pprof_reply;

/* The fields of the message, which is open. Of the selected type alone,
 * without sample labels where there are no `parents`. Nothing at all where
 * there are no samples. */
spanprof_status sp_pprof_reply_put(sp_reply *reply, const sp_mem *mem,
                                   const sp_pprof_reply *profile);

#endif
