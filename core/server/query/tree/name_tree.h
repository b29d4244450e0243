/* Stacks by the names of their functions: a flame graph before it is drawn.
 * One tree holds up to two sides, for a comparison. */
#ifndef SP_NAME_TREE_H
#define SP_NAME_TREE_H

#include "server/model/stack_tree.h"
#include "server/model/sum.h"
#include "util/memory/buffer.h"
#include "util/memory/hash_index.h"

#define SP_NAME_TREE_SIDES 2

typedef struct sp_name_node {
  uint32_t parent;
  uint32_t name;
  int64_t self[SP_NAME_TREE_SIDES];
  int64_t total[SP_NAME_TREE_SIDES];
  uint32_t first_child; /* of children[], after sp_name_tree_order() */
  uint32_t child_count;
} sp_name_node;

typedef struct sp_name_tree {
  const sp_mem *mem;
  const char **names;  /* borrowed from what was added; each once */
  sp_name_node *nodes; /* nodes[0] is the root, named 0, "total"; each other
                        * one comes after its parent */
  uint32_t *children;
  size_t name_count, node_count;
  size_t name_room, node_room;
  sp_index name_index, node_index;
  sp_cancel *cancel; /* of the trees that were added; NULL: none */
} sp_name_tree;

/* An empty tree: a root. The first name is "total", which stands for the root
 * alone: a function of that name has a number of its own. */
spanprof_status sp_name_tree_init(sp_name_tree *tree, const sp_mem *mem);
void sp_name_tree_dispose(sp_name_tree *tree);

/* The number of a name; SP_INDEX_NONE: no memory. */
uint32_t sp_name_tree_name(sp_name_tree *tree, const char *name);

/* The child of `parent` called `name`, made where there is none;
 * SP_INDEX_NONE: no memory. */
uint32_t sp_name_tree_child(sp_name_tree *tree, uint32_t parent, uint32_t name);

/* Add what takes part in `side`; `stacks` outlives the tree. Lines, files and
 * addresses are merged, inlined lines are nodes of their own, and a location
 * without a name leaves its weight with its caller. */
spanprof_status sp_name_tree_add(sp_name_tree *tree,
                                 const sp_stack_tree *stacks, uint32_t side);

/* Sum up the totals; afterwards nothing is added. */
void sp_name_tree_sum(sp_name_tree *tree);

/* Keep the `nodes_max` nodes with the largest totals (node_cut.h); all other
 * children of a node become one child "other". Fills *out, whose
 * totals are then summed and whose names are `tree`'s. */
spanprof_status sp_name_tree_cut(sp_name_tree *out, const sp_name_tree *tree,
                                 size_t nodes_max);

/* Order all children by the bytes of their names, "other" last if asked. */
spanprof_status sp_name_tree_order(sp_name_tree *tree, bool other_last);

#endif
