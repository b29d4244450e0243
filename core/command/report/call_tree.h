/* Stacks as a tree of calls: one node for each function below its callers. */
#ifndef SP_CALL_TREE_H
#define SP_CALL_TREE_H

#include "command/shared/amount.h"
#include "util/memory/hash_index.h"

/* Nodes held: 160 MB and an index of as much at most. */
#define SP_CALL_TREE_NODES_MAX (UINT32_C(1) << 22)

typedef struct sp_call_node {
  uint32_t function;
  uint32_t parent; /* a smaller number */
  sp_amount self;
} sp_call_node;

typedef struct sp_call_tree {
  const sp_mem *mem;
  size_t nodes_max;
  sp_call_node *nodes; /* [0]: above all of them */
  size_t count;
  size_t capacity;
  size_t depth;  /* of the longest stack */
  uint32_t last; /* the node of the stack that was added last */
  sp_index index;
} sp_call_tree;

void sp_call_tree_init(sp_call_tree *tree, const sp_mem *mem);
void sp_call_tree_dispose(sp_call_tree *tree);
void sp_call_tree_clear(sp_call_tree *tree); /* keeps the memory */

/* Add a stack, innermost first. SPANPROF_ERR_LIMIT: nodes_max are there;
 * nothing was added up. SPANPROF_ERR_NOMEM. */
spanprof_status sp_call_tree_add(sp_call_tree *tree, const uint32_t *functions,
                                 size_t count, const sp_amount *amount);

#endif
