/* A function tree in Pyroscope's formats.
 *
 * A flame graph has rows of boxes, with four numbers for each box: the gap
 * between the box before it in its row and the box, its total value, its own
 * value ("self"), and the number of its name. In a comparison, each box has
 * seven numbers: gap, total and self of the left side, gap, total and self of
 * the right side, and the name. The children of a box begin after its own
 * value. */
#ifndef SP_FLAME_GRAPH_H
#define SP_FLAME_GRAPH_H

#include "function_tree.h"
#include "util/memory/buffer.h"

#define SP_FLAME_WIDTH 4
#define SP_DIFF_WIDTH  7
#define SP_FLAME_OTHER "other" /* replaces nodes that were cut */

typedef struct sp_flame_graph {
  const sp_mem *mem;
  uint32_t width;     /* numbers in each box */
  const char **names; /* borrowed from the tree; names[0] is "total" */
  size_t name_count;
  int64_t *values;    /* the numbers of all rows, one row after the other */
  size_t *row_starts; /* indexes in `values`, one for each row, and the end */
  size_t row_count;
  int64_t total;
  int64_t max_self;
  int64_t ticks[SP_TREE_SIDES]; /* total value of each side */
} sp_flame_graph;

/* Make the flame graph of a tree. It is a comparison if the tree has two sides.
 * The tree must outlive the graph. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_flame_graph_make(sp_flame_graph *out,
                                    const sp_function_tree *tree);
void sp_flame_graph_dispose(sp_flame_graph *graph);

/* Append the tree in Pyroscope's PROFILE_FORMAT_TREE. Each node has the size of
 * its name, the name, its own value and the number of its children; the numbers
 * are varints. The children follow, the last one first. The first node is a
 * root without a name. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_tree_bytes(sp_buffer *out, const sp_function_tree *tree);

/* Append a line such as "a;b;c 10\n" for each stack that has a value of its
 * own. Can return SPANPROF_ERR_NOMEM. */
spanprof_status sp_tree_folded(sp_buffer *out, const sp_function_tree *tree);

#endif
