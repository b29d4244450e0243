/* Reads the stacks of a selection and merges them for a flame graph. */
#ifndef SP_STACK_QUERY_H
#define SP_STACK_QUERY_H

#include "flame_graph.h"
#include "server/query/wire/query_plan.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_stack_query {
  sp_stack_tree *stacks[SP_TREE_SIDES];
  sp_function_tree tree; /* cut to the requested number of nodes */
} sp_stack_query;

void sp_stack_query_dispose(sp_stack_query *stacks);

/* The number of nodes a request asks for. SPANPROF_ERR_ARGUMENT: *query's fault
 * is set. */
spanprof_status sp_stack_query_nodes(sp_query *query, int64_t asked,
                                     size_t *out);

/* Merge what a plan selects, of all stacks those that begin with the call
 * sites, which may be NULL. *out is set also where it fails. */
spanprof_status sp_stack_query_read(sp_query_plan *plan,
                                    const sp_texts *call_sites,
                                    sp_stack_tree **out);

/* The same by names. */
spanprof_status sp_stack_query_run(sp_stack_query *out, sp_query_plan *plan,
                                   const sp_texts *call_sites,
                                   size_t nodes_max);

/* Both sides of a comparison. */
spanprof_status sp_stack_query_diff(sp_stack_query *out, sp_query_plan *left,
                                    sp_query_plan *right,
                                    const sp_texts *left_sites,
                                    const sp_texts *right_sites,
                                    size_t nodes_max);

#endif
