#include "call_tree.h"

#include <string.h>

static spanprof_status call_node_add(sp_call_tree *tree, uint32_t parent,
                                     uint32_t function) {
  const size_t count = tree->node_count + 1, values = tree->value_count;
  spanprof_status st =
      sp_mem_reserve(tree->mem, (void **)&tree->nodes, &tree->node_capacity,
                     count, sizeof *tree->nodes);

  if (!st)
    st =
        sp_mem_reserve(tree->mem, (void **)&tree->values, &tree->value_capacity,
                       count * values, sizeof *tree->values);
  if (st)
    return st;
  tree->nodes[count - 1] =
      (sp_call_node){.parent = parent, .function = function};
  memset(sp_call_tree_values(tree, count - 1), 0,
         values * sizeof *tree->values);
  tree->node_count = count;
  return SPANPROF_OK;
}

spanprof_status sp_call_tree_init(sp_call_tree *tree, const sp_mem *mem,
                                  size_t value_count) {
  *tree = (sp_call_tree){.mem = mem, .value_count = value_count};
  return call_node_add(tree, 0, 0);
}

void sp_call_tree_dispose(sp_call_tree *tree) {
  if (!tree->mem)
    return;
  sp_index_dispose(&tree->index, tree->mem);
  sp_mem_free(tree->mem, tree->nodes);
  sp_mem_free(tree->mem, tree->values);
  *tree = (sp_call_tree){0};
}

static uint64_t call_hash(uint32_t parent, uint32_t function) {
  return sp_hash_mix(SP_HASH_SEED, (uint64_t)parent << 32 | function);
}

bool sp_call_tree_find(const sp_call_tree *tree, uint32_t *node,
                       uint32_t function) {
  const uint64_t hash = call_hash(*node, function);
  uint32_t at, i;

  for (i = sp_index_first(&tree->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&tree->index, hash, &at))
    if (tree->nodes[i].parent == *node && tree->nodes[i].function == function) {
      *node = i;
      return true;
    }
  return false;
}

spanprof_status sp_call_tree_child(sp_call_tree *tree, uint32_t *node,
                                   uint32_t function) {
  const uint64_t hash = call_hash(*node, function);
  spanprof_status st;

  if (sp_call_tree_find(tree, node, function))
    return SPANPROF_OK;
  st = sp_index_reserve(&tree->index, tree->mem);
  if (!st)
    st = call_node_add(tree, *node, function);
  if (st)
    return st;
  *node = (uint32_t)tree->node_count - 1;
  sp_index_add(&tree->index, hash, *node);
  return SPANPROF_OK;
}

spanprof_status sp_call_tree_keep(sp_call_tree *tree, const bool *keeps) {
  uint32_t *numbers = sp_mem_new(tree->mem, tree->node_count * sizeof *numbers);
  uint32_t count = 1;
  size_t i;

  if (!numbers)
    return SPANPROF_ERR_NOMEM;
  numbers[0] = 0;
  sp_index_clear(&tree->index);
  for (i = 1; i < tree->node_count; i++) {
    sp_call_node node = tree->nodes[i];

    if (!keeps[i])
      continue;
    node.parent = numbers[node.parent];
    numbers[i] = count;
    tree->nodes[count] = node;
    memmove(sp_call_tree_values(tree, count), sp_call_tree_values(tree, i),
            tree->value_count * sizeof *tree->values);
    sp_index_add(&tree->index, call_hash(node.parent, node.function), count);
    count++;
  }
  tree->node_count = count;
  sp_mem_free(tree->mem, numbers);
  return SPANPROF_OK;
}
