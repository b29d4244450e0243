/* The format "tree" of /api/v1/profile and /api/v1/diff: all nodes in columns.
 */
#ifndef SP_API_TREE_H
#define SP_API_TREE_H

#include "api_call.h"

/* Write the merged stacks of the call's plan and, if `right` is not NULL, those
 * of `right` as the other side of a comparison. Returns SPANPROF_ERR_ARGUMENT
 * and sets the query's fault if a parameter is invalid. */
spanprof_status sp_api_tree(sp_api *api, sp_query_plan *right);

#endif
