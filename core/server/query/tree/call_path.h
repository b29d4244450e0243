/* Selects the stacks below a call site, which is given by the functions from
 * the root to it. */
#ifndef SP_CALL_PATH_H
#define SP_CALL_PATH_H

#include "server/model/stack_tree.h"

/* Keep only the stacks that begin with `names`, outermost first, and their
 * callers. Inlined lines are functions of their own; locations without names
 * are skipped. `stacks` must not have separate samples. SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_TIMEOUT. */
spanprof_status sp_call_path_keep(sp_stack_tree *stacks,
                                  const char *const *names, size_t count);

#endif
