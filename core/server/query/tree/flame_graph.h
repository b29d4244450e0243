/* A function tree in Pyroscope's formats.
 *
 * A flame graph has rows of boxes, with four numbers for each box: the gap to
 * the end of the box before it in its row, total, self, and the number of the
 * name. In a comparison, there are seven: gap, total and self of the left side,
 * the same of the right side, and the name. A box's children begin after its
 * self value. */
#ifndef SP_FLAME_GRAPH_H
#define SP_FLAME_GRAPH_H

#include "function_tree.h"
#include "util/memory/buffer.h"

#define SP_FLAME_WIDTH 4
#define SP_DIFF_WIDTH  7
#define SP_FLAME_OTHER "other" /* the name of nodes that were cut */

typedef struct sp_flame_graph {
  const sp_mem *mem;
  uint32_t width;     /* numbers per box */
  const char **names; /* borrowed from the tree; names[0] is "total" */
  size_t name_count;
  int64_t *values;    /* of all rows, one after the other */
  size_t *row_starts; /* of values; row_count + 1 of them */
  size_t row_count;
  int64_t total;
  int64_t max_self;
  int64_t ticks[SP_TREE_SIDES]; /* the total of each side */
} sp_flame_graph;

/* Make the flame graph of a tree, a comparison if it has two sides. The tree
 * must outlive the graph. SPANPROF_ERR_NOMEM. */
spanprof_status sp_flame_graph_make(sp_flame_graph *out,
                                    const sp_function_tree *tree);
void sp_flame_graph_dispose(sp_flame_graph *graph);

/* Append the tree as bytes (PROFILE_FORMAT_TREE): for each node the size of its
 * name, the name, self and the number of children, all numbers as varints; its
 * children follow, the last one first. The first node is a root without a name.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_tree_bytes(sp_buffer *out, const sp_function_tree *tree);

/* Append "a;b;c 10\n" for every stack with a value of its own.
 * SPANPROF_ERR_NOMEM. */
spanprof_status sp_tree_folded(sp_buffer *out, const sp_function_tree *tree);

#endif
