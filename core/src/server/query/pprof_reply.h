/* Merged stacks as a google.v1.Profile. */
#ifndef SP_PPROF_REPLY_H
#define SP_PPROF_REPLY_H

#include "../model/stack_tree.h"
#include "reply_writer.h"

typedef struct sp_pprof_reply {
  const sp_stack_tree *stacks;
  const char *profile_type; /* of five parts */
  int64_t time_ms;
  size_t nodes_max;  /* below the nodes_max-th largest frames are one function
                      * "other"; 0: all stay */
  bool drop_unnamed; /* stacks with a location that has no name; else such a
                      * location is its address */
} sp_pprof_reply;

/* The fields of the message, which is open. Of the selected type alone,
 * without sample labels. Nothing at all where there are no samples. */
spanprof_status sp_pprof_reply_put(sp_reply *reply, const sp_mem *mem,
                                   const sp_pprof_reply *profile);

#endif
