/* Stacks as a tree of calls: under one parent, each function has one node. All
 * nodes have the same number of values, which the caller adds up. The caller
 * identifies functions by numbers. */
#ifndef SP_CALL_TREE_H
#define SP_CALL_TREE_H

#include "util/memory/hash_index.h"

typedef struct sp_call_node {
  uint32_t parent; /* smaller than the node's own number */
  uint32_t function;
} sp_call_node;

typedef struct sp_call_tree {
  const sp_mem *mem;
  size_t value_count;  /* number of values of each node */
  sp_call_node *nodes; /* nodes[0] is the root, which has no function */
  int64_t *values;     /* values of all nodes, in the order of `nodes` */
  size_t node_count;
  size_t node_capacity;
  size_t value_capacity;
  sp_index index;
} sp_call_tree;

/* Make a tree that has only a root. The caller disposes of it even after
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_call_tree_init(sp_call_tree *tree, const sp_mem *mem,
                                  size_t value_count);
void sp_call_tree_dispose(sp_call_tree *tree);

/* Replace *node by its child with this function, which is added if it is
 * missing. Returns SPANPROF_ERR_LIMIT if there are 2^30 nodes, or
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_call_tree_child(sp_call_tree *tree, uint32_t *node,
                                   uint32_t function);

/* Replace *node by its child with this function. If there is no such child,
 * returns false and leaves *node unchanged. */
bool sp_call_tree_find(const sp_call_tree *tree, uint32_t *node,
                       uint32_t function);

/* Remove each node for which `keeps` is false, with its values. The descendants
 * of a removed node must be removed, too. The other nodes get new numbers. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_call_tree_keep(sp_call_tree *tree, const bool *keeps);

/* The values of a node, valid until a node is added. */
static inline int64_t *sp_call_tree_values(const sp_call_tree *tree,
                                           size_t node) {
  return &tree->values[node * tree->value_count];
}

#endif
