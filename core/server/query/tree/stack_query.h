/* Reads the stacks of a selection and merges them for a flame graph. */
#ifndef SP_STACK_QUERY_H
#define SP_STACK_QUERY_H

#include "flame_graph.h"
#include "server/query/wire/query_plan.h"
#include "server/query/wire/reply_writer.h"

typedef struct sp_stack_query {
  sp_stack_tree *stacks[SP_TREE_SIDES];
  sp_function_tree tree; /* the merged stacks, cut to the requested number of
                          * nodes */
} sp_stack_query;

void sp_stack_query_dispose(sp_stack_query *stacks);

/* Check the requested number of nodes, and set *out to it, or to the default
 * for 0. Returns SPANPROF_ERR_ARGUMENT and sets the query's fault if the number
 * is negative or too large. */
spanprof_status sp_stack_query_nodes(sp_query *query, int64_t requested,
                                     size_t *out);

/* Read the merged stacks of a plan. If `call_sites` is not NULL, only stacks
 * that begin with these functions are read. Free *out also if this fails. */
spanprof_status sp_stack_query_read(sp_query_plan *plan,
                                    const sp_texts *call_sites,
                                    sp_stack_tree **out);

/* Read the stacks of a plan and merge them by function names. */
spanprof_status sp_stack_query_run(sp_stack_query *out, sp_query_plan *plan,
                                   const sp_texts *call_sites,
                                   size_t nodes_max);

/* Read the stacks of both sides of a comparison and merge them by function
 * names. */
spanprof_status sp_stack_query_diff(sp_stack_query *out, sp_query_plan *left,
                                    sp_query_plan *right,
                                    const sp_texts *left_sites,
                                    const sp_texts *right_sites,
                                    size_t nodes_max);

#endif
