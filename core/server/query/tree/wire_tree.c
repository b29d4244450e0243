#include "wire_tree.h"

#include <stdlib.h>
#include <string.h>

#include "server/model/sum.h"

spanprof_status sp_wire_tree_init(sp_wire_tree *tree, const sp_mem *mem) {
  spanprof_status st;

  *tree = (sp_wire_tree){.mem = mem};
  st = sp_mem_reserve(mem, (void **)&tree->nodes, &tree->node_room, 1,
                      sizeof *tree->nodes);
  if (!st)
    tree->nodes[tree->node_count++] = (sp_wire_node){0};
  return st;
}

void sp_wire_tree_dispose(sp_wire_tree *tree) {
  if (!tree->mem)
    return;
  sp_index_dispose(&tree->function_index, tree->mem);
  sp_index_dispose(&tree->node_index, tree->mem);
  sp_mem_free(tree->mem, tree->functions);
  sp_mem_free(tree->mem, tree->nodes);
  *tree = (sp_wire_tree){0};
}

/* The number of a function; SP_INDEX_NONE: no memory. */
static uint32_t wire_function(sp_wire_tree *tree,
                              const sp_tree_function *function) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_bytes(function->name, strlen(function->name)),
                  sp_hash_bytes(function->file, strlen(function->file)));
  uint32_t at, i = sp_index_first(&tree->function_index, hash, &at);

  for (; i != SP_INDEX_NONE;
       i = sp_index_next(&tree->function_index, hash, &at)) {
    sp_wire_function *known = &tree->functions[i];

    if (strcmp(known->name, function->name) != 0 ||
        strcmp(known->file, function->file) != 0)
      continue;
    if (known->line == 0)
      known->line = function->start_line;
    return i;
  }
  if (sp_index_reserve(&tree->function_index, tree->mem) ||
      sp_mem_reserve(tree->mem, (void **)&tree->functions, &tree->function_room,
                     tree->function_count + 1, sizeof *tree->functions))
    return SP_INDEX_NONE;
  i = (uint32_t)tree->function_count++;
  tree->functions[i] = (sp_wire_function){.name = function->name,
                                          .file = function->file,
                                          .line = function->start_line};
  sp_index_add(&tree->function_index, hash, i);
  return i;
}

static spanprof_status wire_child(sp_wire_tree *tree, uint32_t function,
                                  uint32_t *node) {
  const uint64_t hash =
      sp_hash_mix(SP_HASH_SEED, (uint64_t)*node << 32 | function);
  uint32_t at, i = sp_index_first(&tree->node_index, hash, &at);
  spanprof_status st;

  for (; i != SP_INDEX_NONE; i = sp_index_next(&tree->node_index, hash, &at))
    if (tree->nodes[i].parent == *node && tree->nodes[i].function == function) {
      *node = i;
      return SPANPROF_OK;
    }
  if (tree->node_count >= SP_INDEX_NONE)
    return SPANPROF_ERR_NOMEM;
  st = sp_index_reserve(&tree->node_index, tree->mem);
  if (!st)
    st = sp_mem_reserve(tree->mem, (void **)&tree->nodes, &tree->node_room,
                        tree->node_count + 1, sizeof *tree->nodes);
  if (st)
    return st;
  i = (uint32_t)tree->node_count++;
  tree->nodes[i] = (sp_wire_node){.parent = *node, .function = function};
  sp_index_add(&tree->node_index, hash, i);
  *node = i;
  return SPANPROF_OK;
}

/* `functions` and `nodes`: what the numbers of the stacks are in the tree. */
static spanprof_status wire_add_nodes(sp_wire_tree *tree,
                                      const sp_stack_tree *stacks,
                                      uint32_t side, const uint32_t *functions,
                                      uint32_t *nodes) {
  spanprof_status st = SPANPROF_OK;
  uint32_t line;
  size_t i;

  for (i = 0; !st && i < stacks->node_count; i++) {
    const sp_tree_node *from = &stacks->nodes[i];
    const sp_tree_location *location =
        i > 0 ? &stacks->locations[from->location] : NULL;
    uint32_t node = i > 0 ? nodes[from->parent] : 0;

    for (line = location ? location->line_count : 0; !st && line > 0; line--)
      st = wire_child(tree, functions[location->lines[line - 1].function],
                      &node);
    nodes[i] = node;
    if (st)
      break;
    sp_increase(&tree->nodes[node].self[side], from->self);
    sp_increase(&tree->nodes[node].count[side], from->count);
    st = sp_cancel_step(stacks->cancel);
  }
  return st;
}

spanprof_status sp_wire_tree_add(sp_wire_tree *tree,
                                 const sp_stack_tree *stacks, uint32_t side) {
  uint32_t *functions =
      sp_mem_new(tree->mem, (stacks->function_count + 1) * sizeof *functions);
  uint32_t *nodes = sp_mem_new(tree->mem, stacks->node_count * sizeof *nodes);
  spanprof_status st = functions && nodes ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  size_t i;

  for (i = 0; !st && i < stacks->function_count; i++) {
    functions[i] = wire_function(tree, &stacks->functions[i]);
    if (functions[i] == SP_INDEX_NONE)
      st = SPANPROF_ERR_NOMEM;
  }
  if (!st)
    st = wire_add_nodes(tree, stacks, side, functions, nodes);
  sp_mem_free(tree->mem, functions);
  sp_mem_free(tree->mem, nodes);
  return st;
}

static int wire_weight_order(const void *a, const void *b) {
  const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

  return (left < right) - (left > right);
}

/* Weigh each node: the sum of its values and its descendants' on both sides. */
static void wire_weigh(const sp_wire_tree *tree, int64_t *weights) {
  size_t i;

  for (i = 0; i < tree->node_count; i++) {
    const int64_t *self = tree->nodes[i].self;

    weights[i] = sp_sum(self[0] < 0 ? -(self[0] + 1) : self[0],
                        self[1] < 0 ? -(self[1] + 1) : self[1]);
  }
  for (i = tree->node_count - 1; i > 0; i--)
    sp_increase(&weights[tree->nodes[i].parent], weights[i]);
}

/* Get the smallest weight to keep, and the number of nodes to keep that have
 * exactly that weight. */
static void wire_threshold(const int64_t *weights, int64_t *sorted,
                           size_t count, size_t kept, int64_t *least,
                           size_t *equal) {
  size_t i;

  memcpy(sorted, weights, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, wire_weight_order);
  *least = sorted[kept - 1];
  for (i = 0; i < kept && sorted[i] > *least; i++)
    ;
  *equal = kept - i;
}

/* All nodes "(other)" have the last function. */
static bool wire_is_other(const sp_wire_tree *tree, uint32_t node) {
  return node > 0 && tree->nodes[node].function + 1 == tree->function_count;
}

/* Add a removed node's own values to its parent's "(other)", which is created
 * in place of the first removed child. New numbers thus never exceed the old
 * ones. Returns the number of "(other)". */
static uint32_t wire_merge(sp_wire_tree *tree, const sp_wire_node *gone,
                           uint32_t parent, uint32_t *other, size_t *count) {
  uint32_t to = other[parent], side;

  if (wire_is_other(tree, parent)) {
    to = parent;
  } else if (!to) {
    to = other[parent] = (uint32_t)(*count)++;
    tree->nodes[to] = (sp_wire_node){
        .parent = parent, .function = (uint32_t)tree->function_count - 1};
  }
  for (side = 0; side < SP_WIRE_SIDES; side++) {
    sp_increase(&tree->nodes[to].self[side], gone->self[side]);
    sp_increase(&tree->nodes[to].count[side], gone->count[side]);
  }
  return to;
}

/* Remove the nodes below the threshold. `numbers` gets the new number of each
 * node, `other` the number of the "(other)" below each new node; both are all 0
 * before. */
static void wire_compact(sp_wire_tree *tree, const int64_t *weights,
                         int64_t least, size_t equal, uint32_t *numbers,
                         uint32_t *other) {
  size_t i, count = 1;

  for (i = 1; i < tree->node_count; i++) {
    const sp_wire_node node = tree->nodes[i];
    const uint32_t parent = numbers[node.parent];
    const bool stays = !wire_is_other(tree, parent) &&
                       (weights[i] > least || (weights[i] == least && equal));

    if (!stays) {
      numbers[i] = wire_merge(tree, &node, parent, other, &count);
      tree->merged_count++;
      continue;
    }
    equal -= weights[i] == least;
    numbers[i] = (uint32_t)count;
    tree->nodes[count] = node;
    tree->nodes[count++].parent = parent;
  }
  tree->node_count = count;
}

spanprof_status sp_wire_tree_cut(sp_wire_tree *tree, size_t nodes_max) {
  const size_t count = tree->node_count;
  int64_t *weights, *sorted, least;
  uint32_t *numbers, *other;
  size_t equal;
  spanprof_status st = SPANPROF_ERR_NOMEM;

  if (count <= nodes_max)
    return SPANPROF_OK;
  sp_index_dispose(&tree->node_index, tree->mem); /* no more nodes are added */
  weights = sp_mem_new(tree->mem, count * sizeof *weights);
  sorted = sp_mem_new(tree->mem, count * sizeof *sorted);
  if (weights && sorted) {
    wire_weigh(tree, weights);
    /* Each kept node, and the root, may get a child "(other)". */
    wire_threshold(weights, sorted, count, nodes_max / 2 - 1, &least, &equal);
  }
  sp_mem_free(tree->mem, sorted);
  numbers = sp_mem_zero(tree->mem, count * sizeof *numbers);
  other = sp_mem_zero(tree->mem, count * sizeof *other);
  if (weights && sorted && numbers && other)
    st = sp_mem_reserve(tree->mem, (void **)&tree->functions,
                        &tree->function_room, tree->function_count + 1,
                        sizeof *tree->functions);
  if (!st) {
    tree->functions[tree->function_count++] =
        (sp_wire_function){.name = SP_WIRE_OTHER, .file = ""};
    wire_compact(tree, weights, least, equal, numbers, other);
  }
  sp_mem_free(tree->mem, weights);
  sp_mem_free(tree->mem, numbers);
  sp_mem_free(tree->mem, other);
  return st;
}

static void wire_put_functions(const sp_wire_tree *tree, sp_json *json) {
  size_t i;

  sp_json_member_open(json, "functions", '{');
  sp_json_member_open(json, "name", '[');
  for (i = 0; i < tree->function_count; i++)
    sp_json_text(json, tree->functions[i].name);
  sp_json_close(json, ']');
  sp_json_member_open(json, "file", '[');
  for (i = 0; i < tree->function_count; i++)
    sp_json_text(json, tree->functions[i].file);
  sp_json_close(json, ']');
  sp_json_member_open(json, "line", '[');
  for (i = 0; i < tree->function_count; i++)
    sp_json_int(json, tree->functions[i].line);
  sp_json_close(json, ']');
  sp_json_close(json, '}');
}

void sp_wire_tree_put(const sp_wire_tree *tree, sp_json *json,
                      const sp_wire_side *sides, uint32_t side_count) {
  uint32_t side;
  size_t i;

  if (tree->merged_count > 0)
    sp_json_member_int(json, "merged", (int64_t)tree->merged_count);
  wire_put_functions(tree, json);
  sp_json_member_open(json, "nodes", '{');
  sp_json_member_open(json, "parent", '[');
  for (i = 0; i < tree->node_count; i++)
    sp_json_int(json, tree->nodes[i].parent);
  sp_json_close(json, ']');
  sp_json_member_open(json, "function", '[');
  for (i = 0; i < tree->node_count; i++)
    sp_json_int(json, i > 0 ? (int64_t)tree->nodes[i].function : -1);
  sp_json_close(json, ']');
  for (side = 0; side < side_count; side++) {
    sp_json_member_open(json, sides[side].self, '[');
    for (i = 0; i < tree->node_count; i++)
      sp_json_int(json, tree->nodes[i].self[side]);
    sp_json_close(json, ']');
    if (!sides[side].count)
      continue;
    sp_json_member_open(json, sides[side].count, '[');
    for (i = 0; i < tree->node_count; i++)
      sp_json_int(json, tree->nodes[i].count[side]);
    sp_json_close(json, ']');
  }
  sp_json_close(json, '}');
}
