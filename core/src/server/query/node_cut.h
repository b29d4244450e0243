/* Which nodes of a tree an answer of at most so many nodes has: those with the
 * largest weights. Of equal ones the first are kept. A node weighs no more than
 * its parent and comes after it, so that what is kept is a tree. */
#ifndef SP_NODE_CUT_H
#define SP_NODE_CUT_H

#include "../../util/mem.h"

typedef struct sp_node_cut {
  int64_t smallest; /* weight that is kept */
  size_t ties;      /* nodes of that weight that are still to be kept */
} sp_node_cut;

typedef int64_t (*sp_node_weight_fn)(const void *tree, size_t node);

/* Of the nodes 1 to `count`. `nodes_max` 0: all. SPANPROF_ERR_NOMEM. */
spanprof_status sp_node_cut_make(sp_node_cut *out, const sp_mem *mem,
                                 size_t nodes_max, size_t count,
                                 sp_node_weight_fn weight, const void *tree);

/* Ask for every node, in their order. */
static inline bool sp_node_cut_keeps(sp_node_cut *cut, int64_t weight) {
  if (weight != cut->smallest)
    return weight > cut->smallest;
  if (!cut->ties)
    return false;
  cut->ties--;
  return true;
}

#endif
