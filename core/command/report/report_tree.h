/* The stacks of a report as a tree of calls. */
#ifndef SP_REPORT_TREE_H
#define SP_REPORT_TREE_H

#include "command/shared/amount.h"
#include "profile/tables/call_tree.h"

/* Largest number of nodes, which limits the memory to 96 MB for the nodes and
 * 64 MB for their index. */
#define SP_REPORT_TREE_NODES_MAX (UINT32_C(1) << 22)

typedef struct sp_report_tree {
  const sp_mem *mem;
  size_t nodes_max;
  sp_call_tree calls; /* each node has the values of an sp_amount; the tree has
                       * no nodes, not even a root, until a stack is added */
  size_t depth;       /* number of functions of the deepest stack */
  uint32_t last;      /* the node of the stack that was added last */
} sp_report_tree;

void sp_report_tree_init(sp_report_tree *tree, const sp_mem *mem);
void sp_report_tree_clear(sp_report_tree *tree); /* also frees the memory */

/* Add a stack, innermost function first. Returns SPANPROF_ERR_LIMIT if the tree
 * is full, or SPANPROF_ERR_NOMEM, and sets the error message; the stack was not
 * added. */
spanprof_status sp_report_tree_add(sp_report_tree *tree,
                                   const uint32_t *functions, size_t count,
                                   const sp_amount *amount);

/* Returns the sum of the samples whose stacks end at a node. */
sp_amount sp_report_tree_self(const sp_report_tree *tree, size_t node);

#endif
