/* Selects the `nodes_max` nodes of a tree that have the largest weights. If
 * there is no room for all nodes with the smallest of these weights, those with
 * the lowest numbers are kept. A node must weigh no more than its parent and
 * come after it, so the kept nodes form a tree. */
#ifndef SP_NODE_CUT_H
#define SP_NODE_CUT_H

#include "util/memory/mem.h"

typedef struct sp_node_cut {
  int64_t smallest; /* smallest weight that is kept */
  size_t ties;      /* how many more nodes of the weight `smallest` are kept */
} sp_node_cut;

typedef int64_t (*sp_node_weight_fn)(const void *tree, size_t node);

/* Select among the nodes 1 to `count`. If `nodes_max` is 0, all are kept. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_node_cut_make(sp_node_cut *out, const sp_mem *mem,
                                 size_t nodes_max, size_t count,
                                 sp_node_weight_fn weight, const void *tree);

/* Returns whether to keep the node with this weight. Call this once for each
 * node, in order. */
static inline bool sp_node_cut_keeps(sp_node_cut *cut, int64_t weight) {
  if (weight != cut->smallest)
    return weight > cut->smallest;
  if (!cut->ties)
    return false;
  cut->ties--;
  return true;
}

#endif
