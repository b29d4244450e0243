/* Stacks for Go's profile-guided optimization. */
#ifndef SP_GO_PGO_H
#define SP_GO_PGO_H

#include "server/model/stack_tree.h"

/* Cut each stack to its `keep` innermost locations (0: all), and merge equal
 * stacks. With `aggregate_callees`, the innermost location loses its line, so
 * that all samples of a function are added up; locations of callers keep their
 * lines. `stacks` must have no `samples`. Returns SPANPROF_ERR_LIMIT if the
 * stacks need too much memory. */
spanprof_status sp_go_pgo_trim(sp_stack_tree *stacks, size_t keep,
                               bool aggregate_callees);

#endif
