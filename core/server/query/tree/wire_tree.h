/* Merged stacks in the page's format: under one parent, each function has one
 * node. Functions are identified by name and file. */
#ifndef SP_WIRE_TREE_H
#define SP_WIRE_TREE_H

#include "server/model/stack_tree.h"
#include "server/query/wire/json_writer.h"
#include "util/memory/hash_index.h"

#define SP_WIRE_SIDES     2
#define SP_WIRE_NODES_MAX 1048576
#define SP_WIRE_OTHER     "(other)"

typedef struct sp_wire_function {
  const char *name;
  const char *file;
  int64_t line; /* where it begins; 0: unknown */
} sp_wire_function;

typedef struct sp_wire_node {
  uint32_t parent;
  uint32_t function;
  int64_t self[SP_WIRE_SIDES];
  int64_t count[SP_WIRE_SIDES]; /* of samples behind it */
} sp_wire_node;

typedef struct sp_wire_tree {
  const sp_mem *mem;
  sp_wire_function *functions; /* texts borrowed from what was added */
  sp_wire_node *nodes; /* nodes[0] is the root, without a function; each other
                        * one comes after its parent */
  size_t function_count, node_count;
  size_t function_room, node_room;
  size_t merged_count; /* nodes merged into an "(other)" */
  sp_index function_index, node_index;
} sp_wire_tree;

/* A root. SPANPROF_ERR_NOMEM; dispose it also then. */
spanprof_status sp_wire_tree_init(sp_wire_tree *tree, const sp_mem *mem);
void sp_wire_tree_dispose(sp_wire_tree *tree);

/* Add the values of `stacks` to `side`; `stacks` must outlive the tree. Inlined
 * lines are nodes of their own. SPANPROF_ERR_NOMEM. */
spanprof_status sp_wire_tree_add(sp_wire_tree *tree,
                                 const sp_stack_tree *stacks, uint32_t side);

/* Keep at most `nodes_max` nodes, those with the largest sums of both sides.
 * Smaller descendants of a node become one child SP_WIRE_OTHER, with their
 * exact sums. Nothing may be added afterwards. SPANPROF_ERR_NOMEM. */
spanprof_status sp_wire_tree_cut(sp_wire_tree *tree, size_t nodes_max);

/* The names of a side's columns. */
typedef struct sp_wire_side {
  const char *self;
  const char *count; /* NULL: samples are not counted */
} sp_wire_side;

/* Write the members `functions` and `nodes`, in columns, and, if nodes were
 * merged, their number as `merged`. */
void sp_wire_tree_put(const sp_wire_tree *tree, sp_json *json,
                      const sp_wire_side *sides, uint32_t side_count);

#endif
