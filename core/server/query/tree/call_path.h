/* Stacks below a call site, named by the functions from the root to it. */
#ifndef SP_CALL_PATH_H
#define SP_CALL_PATH_H

#include "server/model/stack_tree.h"

/* Keep the stacks that begin with `names`, outermost first, and their callers.
 * An inlined line is a function of its own; a location without a name is none.
 * Not of stacks whose samples are told apart. */
spanprof_status sp_call_path_keep(sp_stack_tree *stacks,
                                  const char *const *names, size_t count);

#endif
