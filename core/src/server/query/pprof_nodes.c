#include "pprof_nodes.h"

#include <stdlib.h>

#include "name_tree.h"

static int nodes_weight_order(const void *a, const void *b) {
  const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

  return (left < right) - (left > right);
}

/* As sp_name_tree_cut() decides, on frames. */
static spanprof_status nodes_threshold(const sp_pprof_nodes *nodes,
                                       const sp_mem *mem,
                                       const sp_pprof_reply *profile,
                                       int64_t *out) {
  const size_t count = profile->stacks->node_count - 1;
  const size_t nodes_max = profile->nodes_max;
  int64_t *weights;
  size_t i;

  *out = INT64_MIN;
  if (nodes_max == 0 || count <= nodes_max)
    return SPANPROF_OK;
  weights = sp_mem_new(mem, count * sizeof *weights);
  if (!weights)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < count; i++)
    weights[i] = nodes->nodes[i + 1].total;
  qsort(weights, count, sizeof *weights, nodes_weight_order);
  *out = weights[nodes_max - 1];
  sp_mem_free(mem, weights);
  return SPANPROF_OK;
}

static void nodes_sum(sp_pprof_nodes *out, const sp_pprof_reply *profile) {
  const sp_stack_tree *stacks = profile->stacks;
  sp_pprof_node *nodes = out->nodes;
  size_t i;

  for (i = 1; i < stacks->node_count; i++) {
    const sp_tree_node *node = &stacks->nodes[i];

    nodes[i].unnamed = profile->drop_unnamed &&
                       (nodes[node->parent].unnamed ||
                        stacks->locations[node->location].line_count == 0);
    if (!nodes[i].unnamed)
      nodes[i].total = node->self;
  }
  for (i = stacks->node_count - 1; i > 0; i--) {
    sp_pprof_node *parent = &nodes[stacks->nodes[i].parent];

    parent->total = sp_sum(parent->total, nodes[i].total);
  }
}

static void nodes_cut(sp_pprof_nodes *out, const sp_pprof_reply *profile,
                      int64_t threshold) {
  const sp_stack_tree *stacks = profile->stacks;
  size_t i;

  for (i = 1; i < stacks->node_count; i++) {
    sp_pprof_node *node = &out->nodes[i];
    sp_pprof_node *parent = &out->nodes[stacks->nodes[i].parent];

    node->is_cut = parent->is_cut || node->total < threshold;
    if (node->is_cut && !parent->is_cut)
      parent->other = sp_sum(parent->other, node->total);
    node->is_used = !profile->parents && !node->is_cut && !node->unnamed &&
                    stacks->nodes[i].self != 0;
  }
  for (i = 0; i < stacks->node_count; i++) {
    out->has_other |= out->nodes[i].other != 0;
    out->nodes[i].is_used |= out->nodes[i].other != 0;
  }
  for (i = 0; profile->parents && i < stacks->sample_count; i++)
    out->nodes[stacks->samples[i].node].is_used = true;
}

/* Callers come first, so that from the end each is marked before it is
 * looked at. */
static void nodes_number(sp_pprof_nodes *out, const sp_stack_tree *stacks) {
  size_t i;
  uint32_t j;

  for (i = stacks->node_count - 1; i > 0; i--) {
    if (!out->nodes[i].is_used)
      continue;
    out->nodes[stacks->nodes[i].parent].is_used = true;
    out->locations[stacks->nodes[i].location] = 1;
  }
  for (i = 0; i < stacks->location_count; i++) {
    if (!out->locations[i])
      continue;
    out->locations[i] = ++out->location_count;
    for (j = 0; j < stacks->locations[i].line_count; j++)
      out->functions[stacks->locations[i].lines[j].function] = 1;
  }
  for (i = 0; i < stacks->function_count; i++)
    if (out->functions[i])
      out->functions[i] = ++out->function_count;
}

spanprof_status sp_pprof_nodes_weigh(sp_pprof_nodes *out, const sp_mem *mem,
                                     const sp_pprof_reply *profile) {
  const sp_stack_tree *stacks = profile->stacks;
  int64_t threshold;
  spanprof_status st;

  *out = (sp_pprof_nodes){0};
  out->nodes = sp_mem_zero(mem, stacks->node_count * sizeof *out->nodes);
  out->locations =
      sp_mem_zero(mem, (stacks->location_count + 1) * sizeof *out->locations);
  out->functions =
      sp_mem_zero(mem, (stacks->function_count + 1) * sizeof *out->functions);
  if (!out->nodes || !out->locations || !out->functions)
    return SPANPROF_ERR_NOMEM;
  nodes_sum(out, profile);
  st = nodes_threshold(out, mem, profile, &threshold);
  if (st)
    return st;
  nodes_cut(out, profile, threshold);
  nodes_number(out, stacks);
  return SPANPROF_OK;
}

void sp_pprof_nodes_dispose(sp_pprof_nodes *nodes, const sp_mem *mem) {
  sp_mem_free(mem, nodes->nodes);
  sp_mem_free(mem, nodes->locations);
  sp_mem_free(mem, nodes->functions);
}
