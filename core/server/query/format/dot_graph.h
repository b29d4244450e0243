/* Merged stacks as a call graph for Graphviz, as `pprof -dot` draws it. */
#ifndef SP_DOT_GRAPH_H
#define SP_DOT_GRAPH_H

#include "server/model/stack_tree.h"
#include "util/memory/buffer.h"

/* Append the graph. `type` is the type of the values, for example "cpu", and
 * `unit` is their unit. Stacks with an unnamed location are left out. Nothing
 * is appended if no stack remains. */
spanprof_status sp_dot_graph(sp_buffer *out, const sp_stack_tree *stacks,
                             const char *type, const char *unit,
                             int64_t time_ms, size_t nodes_max);

#endif
