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
  /* The values of a node are its own value on each side, and, with `details`,
   * then the number of samples on each side. */
  sp_call_tree calls;
  uint32_t side_count;
  bool details; /* functions are identified by name and file, else by name */
  sp_tree_function *functions;
  size_t function_count;
  size_t function_capacity;
  sp_index function_index;
  size_t merged_count; /* nodes that sp_function_tree_cut() removed */
  sp_arena *arena;     /* gets a copy of each name; NULL: names are borrowed
                        * from the stacks that were added */
  sp_cancel *cancel;   /* the query's; NULL: none */
} sp_function_tree;

/* Make a tree that has only a root. SPANPROF_ERR_NOMEM: dispose of it too. */
spanprof_status sp_function_tree_init(sp_function_tree *tree, const sp_mem *mem,
                                      uint32_t side_count, bool details);
void sp_function_tree_dispose(sp_function_tree *tree);

/* Find or add the function with this name and no file. SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_name(sp_function_tree *tree, const char *name,
                                      size_t size, uint32_t *function);

/* Replace *node by its child with this name. SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_child(sp_function_tree *tree, uint32_t *node,
                                       const char *name, size_t size);

/* Returns the node's own value on a side. */
static inline int64_t *sp_function_tree_self(const sp_function_tree *tree,
                                             size_t node, uint32_t side) {
  return &sp_call_tree_values(&tree->calls, node)[side];
}

/* Returns the number of samples in the node's own value, in a tree with
 * details. */
static inline int64_t *sp_function_tree_samples(const sp_function_tree *tree,
                                                size_t node, uint32_t side) {
  return &sp_call_tree_values(&tree->calls, node)[tree->side_count + side];
}

/* Add the values of `stacks` to a side. `stacks` must outlive the tree.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_function_tree_add(sp_function_tree *tree,
                                     const sp_stack_tree *stacks,
                                     uint32_t side);

/* Keep the `nodes_max` nodes with the largest totals of both sides
 * (node_cut.h), besides the root; 0 keeps all. The other descendants of a node
 * become one child called `other`, with their exact sums. Nothing may be added
 * afterwards. SPANPROF_ERR_NOMEM; SPANPROF_ERR_TIMEOUT: the query is cancelled.
 */
spanprof_status sp_function_tree_cut(sp_function_tree *tree, size_t nodes_max,
                                     const char *other);

#endif
