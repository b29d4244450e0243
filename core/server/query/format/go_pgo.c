#include "go_pgo.h"

#include <string.h>

#include "server/model/sum.h"
#include "util/memory/hash_index.h"
#include "util/system/status.h"

typedef struct pgo_trim {
  sp_stack_tree *stacks;
  sp_tree_node *nodes; /* the new tree */
  size_t node_count, node_capacity;
  sp_index node_index;
  sp_tree_location *locations; /* the original locations, then those made for
                                * leaves */
  size_t location_count;
  sp_index leaf_index;
  uint32_t *leaves; /* for each original location, the location that replaces it
                     * in a leaf; 0: not made yet */
  uint32_t *path;   /* the locations of one stack */
} pgo_trim;

static spanprof_status pgo_limit(void) {
  return sp_fail(SPANPROF_ERR_LIMIT,
                 "the query has too many stacks: narrow it down");
}

static spanprof_status pgo_new(pgo_trim *trim, size_t count, size_t item,
                               void *out) {
  sp_arena *arena = &trim->stacks->arena;
  void *p = sp_arena_new(arena, count, item);

  memcpy(out, &p, sizeof p);
  if (p)
    return SPANPROF_OK;
  return arena->st == SPANPROF_ERR_LIMIT ? pgo_limit() : arena->st;
}

static bool pgo_same_leaf(const sp_tree_location *a,
                          const sp_tree_location *b) {
  uint32_t i;

  if (a->line_count != b->line_count)
    return false;
  for (i = 0; i < a->line_count; i++)
    if (a->lines[i].function != b->lines[i].function ||
        (i > 0 && a->lines[i].line != b->lines[i].line))
      return false;
  return true;
}

static spanprof_status pgo_new_leaf(pgo_trim *trim,
                                    const sp_tree_location *from, uint64_t hash,
                                    uint32_t *leaf) {
  sp_tree_line *lines;
  spanprof_status st =
      sp_index_reserve(&trim->leaf_index, trim->stacks->arena.mem);

  if (!st)
    st = pgo_new(trim, from->line_count, sizeof *lines, &lines);
  if (st)
    return st;
  memcpy(lines, from->lines, from->line_count * sizeof *lines);
  lines[0].line = 0;
  *leaf = (uint32_t)trim->location_count++;
  trim->locations[*leaf] =
      (sp_tree_location){.lines = lines, .line_count = from->line_count};
  sp_index_add(&trim->leaf_index, hash, *leaf);
  return SPANPROF_OK;
}

/* Replace a location by one that has neither the line that was being executed
 * nor the address, which would identify the line. */
static spanprof_status pgo_leaf(pgo_trim *trim, uint32_t *location) {
  const sp_tree_location *from = &trim->locations[*location];
  uint32_t *leaf = &trim->leaves[*location];
  uint64_t hash = SP_HASH_SEED;
  uint32_t at, i;
  spanprof_status st = SPANPROF_OK;

  if (from->line_count == 0)
    return SPANPROF_OK;
  if (*leaf == 0) {
    for (i = 0; i < from->line_count; i++)
      hash = sp_hash_mix(hash, from->lines[i].function);
    i = sp_index_first(&trim->leaf_index, hash, &at);
    while (i != SP_INDEX_NONE && !pgo_same_leaf(&trim->locations[i], from))
      i = sp_index_next(&trim->leaf_index, hash, &at);
    *leaf = i;
    if (i == SP_INDEX_NONE)
      st = pgo_new_leaf(trim, from, hash, leaf);
  }
  *location = *leaf;
  return st;
}

static spanprof_status pgo_child(pgo_trim *trim, uint32_t *node,
                                 uint32_t location) {
  const uint64_t hash =
      sp_hash_mix(SP_HASH_SEED, (uint64_t)*node << 32 | location);
  const sp_mem *mem = trim->stacks->arena.mem;
  uint32_t at, i = sp_index_first(&trim->node_index, hash, &at);
  spanprof_status st;

  for (; i != SP_INDEX_NONE; i = sp_index_next(&trim->node_index, hash, &at)) {
    if (trim->nodes[i].parent == *node && trim->nodes[i].location == location) {
      *node = i;
      return SPANPROF_OK;
    }
  }
  if (trim->node_count >= trim->stacks->arena.bytes_max / sizeof *trim->nodes)
    return pgo_limit();
  st = sp_index_reserve(&trim->node_index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&trim->nodes, &trim->node_capacity,
                        trim->node_count + 1, sizeof *trim->nodes);
  if (st)
    return st;
  i = (uint32_t)trim->node_count++;
  trim->nodes[i] = (sp_tree_node){.parent = *node, .location = location};
  sp_index_add(&trim->node_index, hash, i);
  *node = i;
  return SPANPROF_OK;
}

static spanprof_status pgo_stack(pgo_trim *trim, size_t leaf, size_t keep,
                                 bool aggregate_callees) {
  const sp_tree_node *from = &trim->stacks->nodes[leaf];
  uint32_t node = 0;
  size_t at, depth = 0;
  spanprof_status st = SPANPROF_OK;

  for (at = leaf; at != 0 && (keep == 0 || depth < keep);
       at = trim->stacks->nodes[at].parent)
    trim->path[depth++] = trim->stacks->nodes[at].location;
  if (aggregate_callees)
    st = pgo_leaf(trim, &trim->path[0]);
  while (!st && depth > 0)
    st = pgo_child(trim, &node, trim->path[--depth]);
  if (st)
    return st;
  trim->nodes[node].self = sp_sum(trim->nodes[node].self, from->self);
  trim->nodes[node].count = sp_sum(trim->nodes[node].count, from->count);
  return SPANPROF_OK;
}

static spanprof_status pgo_begin(pgo_trim *trim) {
  const sp_stack_tree *stacks = trim->stacks;
  const sp_mem *mem = stacks->arena.mem;
  const size_t locations = stacks->location_count;
  spanprof_status st = pgo_new(trim, 2 * locations + 1, sizeof *trim->locations,
                               &trim->locations);

  if (!st)
    st = pgo_new(trim, locations + 1, sizeof *trim->leaves, &trim->leaves);
  if (!st)
    st = pgo_new(trim, stacks->node_count, sizeof *trim->path, &trim->path);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&trim->nodes, &trim->node_capacity, 1,
                        sizeof *trim->nodes);
  if (st)
    return st;
  if (locations)
    memcpy(trim->locations, stacks->locations,
           locations * sizeof *trim->locations);
  trim->location_count = locations;
  trim->nodes[0] = stacks->nodes[0];
  trim->node_count = 1;
  return SPANPROF_OK;
}

spanprof_status sp_go_pgo_trim(sp_stack_tree *stacks, size_t keep,
                               bool aggregate_callees) {
  const sp_mem *mem = stacks->arena.mem;
  pgo_trim trim = {.stacks = stacks};
  sp_tree_node *nodes;
  spanprof_status st = pgo_begin(&trim);
  size_t i;

  for (i = 1; !st && i < stacks->node_count; i++) {
    st = sp_cancel_step(stacks->cancel);
    if (!st && stacks->nodes[i].self != 0)
      st = pgo_stack(&trim, i, keep, aggregate_callees);
  }
  if (!st)
    st = pgo_new(&trim, trim.node_count, sizeof *nodes, &nodes);
  if (!st) {
    memcpy(nodes, trim.nodes, trim.node_count * sizeof *nodes);
    stacks->nodes = nodes;
    stacks->node_count = trim.node_count;
    stacks->locations = trim.locations;
    stacks->location_count = trim.location_count;
  }
  sp_index_dispose(&trim.node_index, mem);
  sp_index_dispose(&trim.leaf_index, mem);
  sp_mem_free(mem, trim.nodes);
  return st;
}
