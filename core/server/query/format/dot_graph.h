/* Merged stacks as a call graph for Graphviz, as `pprof -dot` draws it. */
#ifndef SP_DOT_GRAPH_H
#define SP_DOT_GRAPH_H

#include "server/model/stack_tree.h"
#include "util/memory/buffer.h"

/* Append the graph. `type` is the kind of values ("cpu"), `unit` their unit.
 * Stacks with a location that has no name are left out; nothing at all where
 * no stack remains. */
spanprof_status sp_dot_graph(sp_buffer *out, const sp_stack_tree *stacks,
                             const char *type, const char *unit,
                             int64_t time_ms, size_t nodes_max);

#endif
