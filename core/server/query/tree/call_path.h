/* Selects the stacks below a call site, which is described by the names of the
 * functions on the path from the root to it. */
#ifndef SP_CALL_PATH_H
#define SP_CALL_PATH_H

#include "server/model/stack_tree.h"

/* Keep only the stacks that begin with the functions in `names`, outermost
 * first, and the nodes above them. An inlined call counts as a function;
 * locations without names are skipped. `stacks` must have no `samples`. Can
 * return SPANPROF_ERR_NOMEM, and SPANPROF_ERR_TIMEOUT if the query is
 * cancelled. */
spanprof_status sp_call_path_keep(sp_stack_tree *stacks,
                                  const char *const *names, size_t count);

#endif
