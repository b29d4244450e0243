/* `format=tree` of /api/v1/profile and /api/v1/diff: all nodes, in columns. */
#ifndef SP_API_TREE_H
#define SP_API_TREE_H

#include "api_call.h"

/* Merge what the call's plan selects, and with `right` what that selects as the
 * other side of a comparison (else NULL). SPANPROF_ERR_ARGUMENT with the fault
 * set where there are too many nodes. */
spanprof_status sp_api_tree(sp_api *api, sp_query_plan *right);

#endif
