/* A name tree as Pyroscope sends it: rows of boxes.
 *
 * Four numbers a node: the gap to the end of the node before it in its row,
 * total, self, name. Seven in a comparison: gap, total and self of the left,
 * then of the right side, name. A node's children begin behind its self. */
#ifndef SP_FLAME_GRAPH_H
#define SP_FLAME_GRAPH_H

#include "name_tree.h"

#define SP_FLAME_WIDTH 4
#define SP_DIFF_WIDTH  7

typedef struct sp_flame_graph {
  const sp_mem *mem;
  uint32_t width;     /* numbers a node */
  const char **names; /* borrowed; names[0] is "total" */
  size_t name_count;
  int64_t *values;    /* of all rows, one after the other */
  size_t *row_starts; /* of values; row_count + 1 of them */
  size_t row_count;
  int64_t total;
  int64_t max_self;
  int64_t ticks[SP_NAME_TREE_SIDES];
} sp_flame_graph;

/* Of a summed tree, whose children it orders. `is_diff`: both sides. The names
 * are borrowed from the tree. */
spanprof_status sp_flame_graph_make(sp_flame_graph *out, sp_name_tree *tree,
                                    bool is_diff);
void sp_flame_graph_dispose(sp_flame_graph *graph);

/* Append the tree as bytes (PROFILE_FORMAT_TREE): a node is the size of its
 * name, the name, self and the number of children, all numbers varints; the
 * children follow, the last first. The first node is a root without a name. */
spanprof_status sp_tree_bytes(sp_buffer *out, sp_name_tree *tree);

/* Append "a;b;c 10\n" for every stack with a weight of its own. */
spanprof_status sp_tree_folded(sp_buffer *out, sp_name_tree *tree);

#endif
