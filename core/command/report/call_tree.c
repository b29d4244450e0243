#include "call_tree.h"

#include <string.h>

#include "util/system/status.h"

void sp_call_tree_init(sp_call_tree *tree, const sp_mem *mem) {
  memset(tree, 0, sizeof *tree);
  tree->mem = mem;
  tree->nodes_max = SP_CALL_TREE_NODES_MAX;
}

void sp_call_tree_dispose(sp_call_tree *tree) {
  sp_mem_free(tree->mem, tree->nodes);
  sp_index_dispose(&tree->index, tree->mem);
  sp_call_tree_init(tree, tree->mem);
}

void sp_call_tree_clear(sp_call_tree *tree) {
  tree->count = 0;
  tree->depth = 0;
  sp_index_clear(&tree->index);
}

static spanprof_status call_node_new(sp_call_tree *tree, uint64_t hash,
                                     uint32_t parent, uint32_t function,
                                     uint32_t *out) {
  spanprof_status st;

  if (tree->count >= tree->nodes_max)
    return sp_fail(SPANPROF_ERR_LIMIT,
                   "more than %zu different calls: narrow it with a filter",
                   tree->nodes_max);
  st = sp_mem_reserve(tree->mem, (void **)&tree->nodes, &tree->capacity,
                      tree->count + 1, sizeof *tree->nodes);
  if (!st)
    st = sp_index_reserve(&tree->index, tree->mem);
  if (st)
    return sp_fail(st, "out of memory");
  *out = (uint32_t)tree->count++;
  tree->nodes[*out] = (sp_call_node){.function = function, .parent = parent};
  if (*out)
    sp_index_add(&tree->index, hash, *out);
  return SPANPROF_OK;
}

static spanprof_status call_node(sp_call_tree *tree, uint32_t parent,
                                 uint32_t function, uint32_t *out) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(parent, SP_HASH_SEED), function);
  uint32_t at, i;

  for (i = sp_index_first(&tree->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&tree->index, hash, &at))
    if (tree->nodes[i].parent == parent &&
        tree->nodes[i].function == function) {
      *out = i;
      return SPANPROF_OK;
    }
  return call_node_new(tree, hash, parent, function, out);
}

spanprof_status sp_call_tree_add(sp_call_tree *tree, const uint32_t *functions,
                                 size_t count, const sp_amount *amount) {
  spanprof_status st = SPANPROF_OK;
  uint32_t node = 0;
  size_t i;

  if (tree->count == 0)
    st = call_node_new(tree, 0, 0, 0, &node);
  for (i = count; i > 0 && !st; i--)
    st = call_node(tree, node, functions[i - 1], &node);
  if (st)
    return st;
  sp_amount_add(&tree->nodes[node].self, amount);
  tree->last = node;
  tree->depth = (size_t)sp_max_u64(tree->depth, count);
  return SPANPROF_OK;
}
