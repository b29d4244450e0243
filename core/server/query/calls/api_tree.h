/* The format "tree" of /api/v1/profile and /api/v1/diff: all nodes in columns.
 */
#ifndef SP_API_TREE_H
#define SP_API_TREE_H

#include "api_call.h"

/* Write the merged stacks of the call's plan, and those of `right` as the other
 * side of a comparison, unless it is NULL. SPANPROF_ERR_ARGUMENT: the query's
 * fault is set. */
spanprof_status sp_api_tree(sp_api *api, sp_query_plan *right);

#endif
