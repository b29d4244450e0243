#include "name_tree.h"

#include <stdlib.h>
#include <string.h>

#include "node_cut.h"

#define TREE_OTHER "other"

spanprof_status sp_name_tree_init(sp_name_tree *tree, const sp_mem *mem) {
  spanprof_status st;

  *tree = (sp_name_tree){.mem = mem};
  st = sp_mem_reserve(mem, (void **)&tree->names, &tree->name_room, 1,
                      sizeof *tree->names);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&tree->nodes, &tree->node_room, 1,
                        sizeof *tree->nodes);
  if (st)
    return st;
  tree->names[tree->name_count++] = "total";
  tree->nodes[tree->node_count++] = (sp_name_node){0};
  return SPANPROF_OK;
}

void sp_name_tree_dispose(sp_name_tree *tree) {
  if (!tree->mem)
    return;
  sp_index_dispose(&tree->name_index, tree->mem);
  sp_index_dispose(&tree->node_index, tree->mem);
  sp_mem_free(tree->mem, tree->children);
  sp_mem_free(tree->mem, tree->nodes);
  sp_mem_free(tree->mem, tree->names);
  *tree = (sp_name_tree){0};
}

uint32_t sp_name_tree_name(sp_name_tree *tree, const char *name) {
  const uint64_t hash = sp_hash_bytes(name, strlen(name));
  uint32_t at, i = sp_index_first(&tree->name_index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&tree->name_index, hash, &at))
    if (strcmp(tree->names[i], name) == 0)
      return i;
  if (sp_index_reserve(&tree->name_index, tree->mem) ||
      sp_mem_reserve(tree->mem, (void **)&tree->names, &tree->name_room,
                     tree->name_count + 1, sizeof *tree->names))
    return SP_INDEX_NONE;
  i = (uint32_t)tree->name_count++;
  tree->names[i] = name;
  sp_index_add(&tree->name_index, hash, i);
  return i;
}

uint32_t sp_name_tree_child(sp_name_tree *tree, uint32_t parent,
                            uint32_t name) {
  const uint64_t hash =
      sp_hash_mix(SP_HASH_SEED, (uint64_t)parent << 32 | name);
  uint32_t at, i = sp_index_first(&tree->node_index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&tree->node_index, hash, &at))
    if (tree->nodes[i].parent == parent && tree->nodes[i].name == name)
      return i;
  if (sp_index_reserve(&tree->node_index, tree->mem) ||
      sp_mem_reserve(tree->mem, (void **)&tree->nodes, &tree->node_room,
                     tree->node_count + 1, sizeof *tree->nodes))
    return SP_INDEX_NONE;
  i = (uint32_t)tree->node_count++;
  tree->nodes[i] = (sp_name_node){.parent = parent, .name = name};
  sp_index_add(&tree->node_index, hash, i);
  return i;
}

/* One stack tree being added: what its numbers are in the name tree. */
typedef struct tree_adding {
  uint32_t *functions; /* name */
  uint32_t *nodes;     /* node */
} tree_adding;

static spanprof_status tree_add_nodes(sp_name_tree *tree, tree_adding *adding,
                                      const sp_stack_tree *stacks,
                                      uint32_t side) {
  spanprof_status st = SPANPROF_OK;
  size_t i;
  uint32_t j;

  for (i = 0; !st && i < stacks->node_count; i++) {
    const sp_tree_node *from = &stacks->nodes[i];
    const sp_tree_location *location =
        i > 0 ? &stacks->locations[from->location] : NULL;
    uint32_t node = i > 0 ? adding->nodes[from->parent] : 0;

    for (j = location ? location->line_count : 0; j > 0; j--) {
      node = sp_name_tree_child(
          tree, node, adding->functions[location->lines[j - 1].function]);
      if (node == SP_INDEX_NONE)
        return SPANPROF_ERR_NOMEM;
    }
    adding->nodes[i] = node;
    tree->nodes[node].self[side] =
        sp_sum(tree->nodes[node].self[side], from->self);
    st = sp_cancel_step(stacks->cancel);
  }
  return st;
}

spanprof_status sp_name_tree_add(sp_name_tree *tree,
                                 const sp_stack_tree *stacks, uint32_t side) {
  tree_adding adding = {0};
  spanprof_status st = SPANPROF_ERR_NOMEM;
  size_t i;

  tree->cancel = stacks->cancel;
  adding.functions =
      sp_mem_new(tree->mem, stacks->function_count * sizeof *adding.functions);
  adding.nodes =
      sp_mem_new(tree->mem, stacks->node_count * sizeof *adding.nodes);
  if (!adding.functions || !adding.nodes)
    goto cleanup;
  for (i = 0; i < stacks->function_count; i++) {
    adding.functions[i] = sp_name_tree_name(tree, stacks->functions[i].name);
    if (adding.functions[i] == SP_INDEX_NONE)
      goto cleanup;
  }
  st = tree_add_nodes(tree, &adding, stacks, side);

cleanup:
  sp_mem_free(tree->mem, adding.functions);
  sp_mem_free(tree->mem, adding.nodes);
  return st;
}

void sp_name_tree_sum(sp_name_tree *tree) {
  size_t i;
  uint32_t side;

  for (i = 0; i < tree->node_count; i++)
    memcpy(tree->nodes[i].total, tree->nodes[i].self,
           sizeof tree->nodes[i].self);
  for (i = tree->node_count - 1; i > 0; i--) {
    const sp_name_node *node = &tree->nodes[i];
    sp_name_node *parent = &tree->nodes[node->parent];

    for (side = 0; side < SP_NAME_TREE_SIDES; side++)
      parent->total[side] = sp_sum(parent->total[side], node->total[side]);
  }
}

static int64_t tree_weight(const void *of, size_t number) {
  const sp_name_tree *tree = of;
  const sp_name_node *node = &tree->nodes[number];

  return sp_sum(node->total[0], node->total[1]);
}

static void tree_add_self(sp_name_node *to, const int64_t *self) {
  uint32_t side;

  for (side = 0; side < SP_NAME_TREE_SIDES; side++)
    to->self[side] = sp_sum(to->self[side], self[side]);
}

spanprof_status sp_name_tree_cut(sp_name_tree *out, const sp_name_tree *tree,
                                 size_t nodes_max) {
  uint32_t *kept = sp_mem_new(tree->mem, tree->node_count * sizeof *kept);
  spanprof_status st = sp_name_tree_init(out, tree->mem);
  sp_node_cut largest;
  size_t i;

  out->cancel = tree->cancel;
  if (!st)
    st = kept ? sp_node_cut_make(&largest, tree->mem, nodes_max,
                                 tree->node_count - 1, tree_weight, tree)
              : SPANPROF_ERR_NOMEM;
  for (i = 0; !st && i < tree->node_count; i++) {
    const sp_name_node *node = &tree->nodes[i];
    const uint32_t parent = i > 0 ? kept[node->parent] : 0;
    const bool cut =
        i > 0 && !sp_node_cut_keeps(&largest, tree_weight(tree, i));
    uint32_t to = 0, name;

    kept[i] = SP_INDEX_NONE;
    if (parent == SP_INDEX_NONE)
      continue; /* below what was cut */
    if (i > 0) {
      name = sp_name_tree_name(out, cut ? TREE_OTHER : tree->names[node->name]);
      to = name == SP_INDEX_NONE ? name : sp_name_tree_child(out, parent, name);
    }
    if (to == SP_INDEX_NONE) {
      st = SPANPROF_ERR_NOMEM;
      continue;
    }
    tree_add_self(&out->nodes[to], cut ? node->total : node->self);
    if (!cut)
      kept[i] = to;
    st = sp_cancel_step(tree->cancel);
  }
  if (!st)
    sp_name_tree_sum(out);
  sp_mem_free(tree->mem, kept);
  return st;
}

/* qsort() has no place for what it sorts by. */
typedef struct tree_named {
  const char *name;
  uint32_t number;
} tree_named;

static int tree_name_order(const void *a, const void *b) {
  return strcmp(((const tree_named *)a)->name, ((const tree_named *)b)->name);
}

/* The place of each name among all of them, by bytes. */
static spanprof_status tree_ranks(const sp_name_tree *tree, bool other_last,
                                  uint32_t *ranks) {
  const size_t count = tree->name_count;
  tree_named *names = sp_mem_new(tree->mem, count * sizeof *names);
  uint32_t i, rank = 0;

  if (!names)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < count; i++)
    names[i] = (tree_named){.name = tree->names[i], .number = i};
  qsort(names, count, sizeof *names, tree_name_order);
  for (i = 0; i < count; i++) {
    if (other_last && strcmp(names[i].name, TREE_OTHER) == 0)
      ranks[names[i].number] = (uint32_t)count - 1;
    else
      ranks[names[i].number] = rank++;
  }
  sp_mem_free(tree->mem, names);
  return SPANPROF_OK;
}

/* Sort by the names' ranks, then, keeping that order, by parents: each by
 * counting, which takes a node's time once for each. */
static void tree_sort(sp_name_tree *tree, const uint32_t *ranks,
                      uint32_t *by_name, uint32_t *starts) {
  const size_t count = tree->node_count;
  uint32_t i, at;

  memset(starts, 0, (tree->name_count + 1) * sizeof *starts);
  for (i = 1; i < count; i++)
    starts[ranks[tree->nodes[i].name] + 1]++;
  for (i = 1; i <= tree->name_count; i++)
    starts[i] += starts[i - 1];
  for (i = 1; i < count; i++)
    by_name[starts[ranks[tree->nodes[i].name]]++] = i;
  for (i = 0; i < count; i++)
    tree->nodes[i].child_count = 0;
  for (i = 1; i < count; i++)
    tree->nodes[tree->nodes[i].parent].child_count++;
  for (i = 0, at = 0; i < count; i++) {
    tree->nodes[i].first_child = at;
    at += tree->nodes[i].child_count;
    tree->nodes[i].child_count = 0;
  }
  for (i = 0; i + 1 < count; i++) {
    sp_name_node *parent = &tree->nodes[tree->nodes[by_name[i]].parent];

    tree->children[parent->first_child + parent->child_count++] = by_name[i];
  }
}

spanprof_status sp_name_tree_order(sp_name_tree *tree, bool other_last) {
  uint32_t *ranks = sp_mem_new(tree->mem, tree->name_count * sizeof *ranks);
  uint32_t *by_name = sp_mem_new(tree->mem, tree->node_count * sizeof *by_name);
  uint32_t *starts =
      sp_mem_new(tree->mem, (tree->name_count + 1) * sizeof *starts);
  spanprof_status st = SPANPROF_ERR_NOMEM;

  sp_mem_free(tree->mem, tree->children);
  tree->children =
      sp_mem_new(tree->mem, tree->node_count * sizeof *tree->children);
  if (ranks && by_name && starts && tree->children)
    st = tree_ranks(tree, other_last, ranks);
  if (!st)
    tree_sort(tree, ranks, by_name, starts);
  sp_mem_free(tree->mem, ranks);
  sp_mem_free(tree->mem, by_name);
  sp_mem_free(tree->mem, starts);
  return st;
}
