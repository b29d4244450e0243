/* Merged stacks as a graph of calls between lines of functions. */
#ifndef SP_DOT_CALLS_H
#define SP_DOT_CALLS_H

#include "server/model/stack_tree.h"
#include "util/memory/hash_index.h"

/* A node of the graph: a function at one of its lines. */
typedef struct sp_dot_node {
  uint32_t function;
  int64_t line;
  int64_t flat;
  int64_t cum;
  double entropy; /* the score by which nodes are ordered, the highest first */
  uint32_t seen;  /* number of the last stack that was counted here */
} sp_dot_node;

typedef struct sp_dot_edge {
  uint32_t from;
  uint32_t to;
  int64_t weight;
  uint32_t seen;
  bool is_inline; /* the callee is inlined in every stack */
} sp_dot_edge;

typedef struct sp_dot_calls {
  const sp_mem *mem;
  const sp_stack_tree *stacks;
  sp_dot_node *nodes;
  sp_dot_edge *edges;
  size_t node_count, edge_count;
  size_t node_capacity, edge_capacity;
  sp_index node_index, edge_index;
  int64_t total;
} sp_dot_calls;

/* Make the graph. Each stack counts once at each of its nodes and edges. Stacks
 * with an unnamed location are left out. Dispose of *out also if this fails. */
spanprof_status sp_dot_calls_make(sp_dot_calls *out, const sp_mem *mem,
                                  const sp_stack_tree *stacks);
void sp_dot_calls_dispose(sp_dot_calls *calls);

#endif
