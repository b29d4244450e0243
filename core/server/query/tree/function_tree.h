/* Merged stacks as a tree of functions, which flame graphs are drawn from. A
 * tree has one side, or two for a comparison.
 *
 * Inlined lines are nodes of their own. A location without a name leaves its
 * values with its caller. */
#ifndef SP_FUNCTION_TREE_H
#define SP_FUNCTION_TREE_H

#include "profile/tables/call_tree.h"
#include "server/model/stack_tree.h"

#define SP_TREE_SIDES 2

typedef struct sp_function_tree {
  /* The values of a node are its own value on each side, followed, with
   * `details`, by the number of samples on each side. */
  sp_call_tree calls;
  uint32_t side_count;
  bool details; /* functions are identified by name and file; if false, only by
                 * name */
  sp_tree_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  size_t merged_count; /* nodes that sp_function_tree_cut() removed, and the
                        * `folded_count` of the added stacks */
  bool has_other;      /* the added stacks contain nodes SP_TREE_OTHER */
  /* Owns a copy of each name. If NULL, the names are borrowed from the stacks
   * that were added. */
  sp_arena *arena;
  sp_cancel *cancel; /* cancels the query; may be NULL */
} sp_function_tree;

/* Make a tree that has only a root. Can return SPANPROF_ERR_NOMEM; dispose of
 * the tree also in this case. */
spanprof_status sp_function_tree_init(sp_function_tree *tree, const sp_mem *mem,
                                      uint32_t side_count, bool details);
void sp_function_tree_dispose(sp_function_tree *tree);

/* Find or add the function with this name and no file. *function gets its
 * number. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_name(sp_function_tree *tree, const char *name,
                                      size_t size, uint32_t *function);

/* Replace *node by its child with this name, which is added if it is new. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_child(sp_function_tree *tree, uint32_t *node,
                                       const char *name, size_t size);

/* Returns a pointer to the node's own value on a side. */
static inline int64_t *sp_function_tree_self(const sp_function_tree *tree,
                                             size_t node, uint32_t side) {
  return &sp_call_tree_values(&tree->calls, node)[side];
}

/* Returns a pointer to the number of samples in the node's own value. The tree
 * must have `details`. */
static inline int64_t *sp_function_tree_samples(const sp_function_tree *tree,
                                                size_t node, uint32_t side) {
  return &sp_call_tree_values(&tree->calls, node)[tree->side_count + side];
}

/* Add the values of `stacks` to a side. `stacks` must outlive the tree. Can
 * return SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_add(sp_function_tree *tree,
                                     const sp_stack_tree *stacks,
                                     uint32_t side);

/* Keep the root and the `nodes_max` nodes (0: all) with the largest totals of
 * both sides, as node_cut.h describes. The removed descendants of a node become
 * one child called `other`, which has their exact sums. If the added stacks
 * contain nodes SP_TREE_OTHER, `other` must be the same name. After this call,
 * nothing may be added. Can return SPANPROF_ERR_NOMEM, and SPANPROF_ERR_TIMEOUT
 * if the query is cancelled. */
spanprof_status sp_function_tree_cut(sp_function_tree *tree, size_t nodes_max,
                                     const char *other);

#endif
