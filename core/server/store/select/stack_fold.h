/* Reads more stacks than fit in memory, as a tree with a limited number of
 * nodes.
 *
 * The stacks are read twice. The first pass chooses the nodes with the largest
 * totals: whenever the tree is full, the nodes with the smallest totals are
 * removed. The second pass adds up the stacks at the chosen nodes. The values
 * of other frames are added to a child SP_TREE_OTHER of their nearest chosen
 * caller. The values of all chosen nodes, and all totals, are therefore exact.
 * The first pass can remove a node and add it again later. Its total then
 * counts only the stacks after the removal. A node is therefore sure to be
 * chosen only if its total is well above the smallest chosen totals. */
#ifndef SP_STACK_FOLD_H
#define SP_STACK_FOLD_H

#include "sample_sums.h"
#include "stack_sums.h"

typedef struct sp_stack_fold_limits {
  size_t kept_nodes; /* number of nodes that a cut of the tree keeps */
  size_t nodes;      /* number of nodes at which the tree is cut */
  /* Number of stacks whose sums are in memory. If more stacks are selected, the
   * blocks are read several times, each time for a range of stack ids. */
  size_t stacks;
  /* Number of stacks whose frames are in memory at the same time, and number of
   * these frames. A stack with more frames is read alone, and may have
   * `stack_frames` frames. */
  size_t part_stacks;
  size_t part_frames;
  size_t stack_frames;
} sp_stack_fold_limits;

extern const sp_stack_fold_limits sp_stack_fold_default;

/* Read the stacks of a selector into `tree`, which is empty. If `samples` is
 * not NULL, separate sums for each series, span and trace are read, too.
 * Returns the statuses of sp_store_stacks(). */
spanprof_status sp_stack_fold(sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_stack_fold_limits *limits,
                              sp_sample_sums *samples, sp_stack_tree *tree);

#endif
