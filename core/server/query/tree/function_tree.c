#include "function_tree.h"

#include <string.h>

#include "server/model/node_cut.h"
#include "server/model/sum.h"
#include "server/query/selector/matcher_list.h"

spanprof_status sp_function_tree_init(sp_function_tree *tree, const sp_mem *mem,
                                      uint32_t side_count, bool details) {
  *tree = (sp_function_tree){.side_count = side_count, .details = details};
  return sp_call_tree_init(&tree->calls, mem, side_count * (details ? 2 : 1));
}

void sp_function_tree_dispose(sp_function_tree *tree) {
  if (!tree->calls.mem)
    return;
  sp_index_dispose(&tree->function_index, tree->calls.mem);
  sp_mem_free(tree->calls.mem, tree->functions);
  sp_call_tree_dispose(&tree->calls);
  *tree = (sp_function_tree){0};
}

static spanprof_status tree_function_add(sp_function_tree *tree,
                                         const sp_tree_function *function,
                                         size_t name_size, uint64_t hash) {
  const sp_mem *mem = tree->calls.mem;
  sp_tree_function added = *function;
  spanprof_status st = sp_index_reserve(&tree->function_index, mem);

  if (!st)
    st =
        sp_mem_reserve(mem, (void **)&tree->functions, &tree->function_capacity,
                       tree->function_count + 1, sizeof *tree->functions);
  if (st)
    return st;
  if (tree->arena) {
    added.name = sp_arena_text(tree->arena, added.name, name_size);
    if (!added.name)
      return tree->arena->st;
  }
  sp_index_add(&tree->function_index, hash, (uint32_t)tree->function_count);
  tree->functions[tree->function_count++] = added;
  return SPANPROF_OK;
}

/* Find or add a function, whose name has `name_size` bytes. */
static spanprof_status tree_function(sp_function_tree *tree,
                                     const sp_tree_function *function,
                                     size_t name_size, uint32_t *out) {
  const char *file = function->file;
  const uint64_t hash = sp_hash_mix(sp_hash_bytes(function->name, name_size),
                                    sp_hash_bytes(file, strlen(file)));
  uint32_t at, i = sp_index_first(&tree->function_index, hash, &at);

  for (; i != SP_INDEX_NONE;
       i = sp_index_next(&tree->function_index, hash, &at)) {
    sp_tree_function *known = &tree->functions[i];

    if (strlen(known->name) != name_size ||
        memcmp(known->name, function->name, name_size) != 0 ||
        strcmp(known->file, file) != 0)
      continue;
    if (known->start_line == 0)
      known->start_line = function->start_line;
    *out = i;
    return SPANPROF_OK;
  }
  *out = (uint32_t)tree->function_count;
  return tree_function_add(tree, function, name_size, hash);
}

spanprof_status sp_function_tree_name(sp_function_tree *tree, const char *name,
                                      size_t size, uint32_t *function) {
  return tree_function(tree, &(sp_tree_function){.name = name, .file = ""},
                       size, function);
}

spanprof_status sp_function_tree_child(sp_function_tree *tree, uint32_t *node,
                                       const char *name, size_t size) {
  uint32_t function;
  const spanprof_status st = sp_function_tree_name(tree, name, size, &function);

  return st ? st : sp_call_tree_child(&tree->calls, node, function);
}

/* Find or add each function of `stacks`. */
static spanprof_status tree_add_functions(sp_function_tree *tree,
                                          const sp_stack_tree *stacks,
                                          uint32_t *functions) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < stacks->function_count; i++) {
    const sp_tree_function *function = &stacks->functions[i];
    const size_t size = strlen(function->name);

    st = tree->details
             ? tree_function(tree, function, size, &functions[i])
             : sp_function_tree_name(tree, function->name, size, &functions[i]);
  }
  return st;
}

/* Add the nodes of `stacks`. `functions` has the number in the tree of each
 * function of `stacks`. `nodes` gets the number in the tree of each node of
 * `stacks`. */
static spanprof_status tree_add_nodes(sp_function_tree *tree,
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
      st = sp_call_tree_child(&tree->calls, &node,
                              functions[location->lines[line - 1].function]);
    if (st)
      break;
    nodes[i] = node;
    sp_increase(sp_function_tree_self(tree, node, side), from->self);
    if (tree->details)
      sp_increase(sp_function_tree_samples(tree, node, side), from->count);
    st = sp_cancel_step(stacks->cancel);
  }
  return st;
}

spanprof_status sp_function_tree_add(sp_function_tree *tree,
                                     const sp_stack_tree *stacks,
                                     uint32_t side) {
  const sp_mem *mem = tree->calls.mem;
  uint32_t *functions =
      sp_mem_new(mem, (stacks->function_count + 1) * sizeof *functions);
  uint32_t *nodes = sp_mem_new(mem, stacks->node_count * sizeof *nodes);
  spanprof_status st = functions && nodes ? SPANPROF_OK : SPANPROF_ERR_NOMEM;

  tree->cancel = stacks->cancel;
  tree->merged_count += stacks->folded_count;
  tree->has_other |= stacks->folded_count > 0;
  if (!st)
    st = tree_add_functions(tree, stacks, functions);
  if (!st)
    st = tree_add_nodes(tree, stacks, side, functions, nodes);
  sp_mem_free(mem, functions);
  sp_mem_free(mem, nodes);
  return st;
}

/* Compute the weight of each node: the sum of its own value and those of its
 * descendants on all sides. The negative values in a difference of profiles
 * count as positive, so that no node weighs more than its parent. */
static void tree_weigh(const sp_function_tree *tree, int64_t *weights) {
  const size_t count = tree->calls.node_count;
  uint32_t side;
  size_t i;

  for (i = 0; i < count; i++) {
    weights[i] = 0;
    for (side = 0; side < tree->side_count; side++) {
      const int64_t self = *sp_function_tree_self(tree, i, side);

      sp_increase(&weights[i], self == INT64_MIN ? INT64_MAX
                               : self < 0        ? -self
                                                 : self);
    }
  }
  for (i = count - 1; i > 0; i--)
    sp_increase(&weights[tree->calls.nodes[i].parent], weights[i]);
}

static int64_t tree_weight(const void *weights, size_t node) {
  return ((const int64_t *)weights)[node];
}

/* Remove the nodes that `largest` does not keep, and close the gaps. The first
 * removed child of a node is replaced by a node with the function
 * `other_function`, to which the values of all removed descendants of its
 * parent are added. `numbers` gets the new number of each node. `others` gets,
 * for each new node, the number of the replacement among its children, and for
 * a replacement its own number. Both arrays must be zeroed. */
static spanprof_status tree_remove(sp_function_tree *tree, sp_node_cut *largest,
                                   const int64_t *weights,
                                   uint32_t other_function, uint32_t *numbers,
                                   uint32_t *others) {
  sp_call_tree *calls = &tree->calls;
  const size_t values = calls->value_count;
  spanprof_status st = SPANPROF_OK;
  size_t i, j, count = 1;

  for (i = 1; !st && i < calls->node_count; i++) {
    const sp_call_node node = calls->nodes[i];
    const uint32_t parent = numbers[node.parent];
    const bool was_other = tree->has_other && node.function == other_function;
    const bool keeps = sp_node_cut_keeps(largest, weights[i]) && !was_other;
    const uint32_t to = !keeps && others[parent] ? others[parent] : count;

    numbers[i] = to;
    tree->merged_count += !keeps && !was_other;
    st = sp_cancel_step(tree->cancel);
    if (to < count) {
      for (j = 0; j < values; j++)
        sp_increase(&sp_call_tree_values(calls, to)[j],
                    sp_call_tree_values(calls, i)[j]);
      continue;
    }
    memmove(sp_call_tree_values(calls, to), sp_call_tree_values(calls, i),
            values * sizeof *calls->values);
    calls->nodes[to] = (sp_call_node){
        .parent = parent, .function = keeps ? node.function : other_function};
    if (!keeps)
      others[parent] = others[to] = to;
    count++;
  }
  calls->node_count = count;
  return st;
}

spanprof_status sp_function_tree_cut(sp_function_tree *tree, size_t nodes_max,
                                     const char *other) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->calls.node_count;
  int64_t *weights;
  uint32_t *numbers, *others, function;
  sp_node_cut largest;
  spanprof_status st = SPANPROF_ERR_NOMEM;

  if (!nodes_max || count - 1 <= nodes_max)
    return SPANPROF_OK;
  sp_index_dispose(&tree->calls.index, mem); /* no node is added after this */
  weights = sp_mem_new(mem, count * sizeof *weights);
  numbers = sp_mem_zero(mem, count * sizeof *numbers);
  others = sp_mem_zero(mem, count * sizeof *others);
  if (weights && numbers && others) {
    tree_weigh(tree, weights);
    st = sp_node_cut_make(&largest, mem, nodes_max, count - 1, tree_weight,
                          weights);
  }
  if (!st)
    st = sp_function_tree_name(tree, other, strlen(other), &function);
  if (!st)
    st = tree_remove(tree, &largest, weights, function, numbers, others);
  sp_mem_free(mem, weights);
  sp_mem_free(mem, numbers);
  sp_mem_free(mem, others);
  return st;
}
