/* Stacks as Go's profile-guided optimization wants them. */
#ifndef SP_GO_PGO_H
#define SP_GO_PGO_H

#include "server/model/stack_tree.h"

/* Cut each stack to its `keep` innermost locations, 0: all, and add equal ones
 * up. Where callees are aggregated, the innermost has no line of its own, so
 * that a function's samples count together; as a caller it keeps its lines.
 * Not of stacks whose samples are told apart.
 * SPANPROF_ERR_LIMIT: it takes too much memory. */
spanprof_status sp_go_pgo_trim(sp_stack_tree *stacks, size_t keep,
                               bool aggregate_callees);

#endif
