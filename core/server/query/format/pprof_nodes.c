#include "pprof_nodes.h"

#include "server/model/node_cut.h"
#include "server/model/sum.h"

static int64_t nodes_weight(const void *of, size_t number) {
  const sp_pprof_nodes *nodes = of;

  return nodes->nodes[number].total;
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
                      sp_node_cut *largest) {
  const sp_stack_tree *stacks = profile->stacks;
  size_t i;

  for (i = 1; i < stacks->node_count; i++) {
    sp_pprof_node *node = &out->nodes[i];
    sp_pprof_node *parent = &out->nodes[stacks->nodes[i].parent];

    node->is_cut = !sp_node_cut_keeps(largest, node->total) || parent->is_cut;
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

/* Number the locations and functions of the used nodes. A caller's index is
 * lower than those of its callees. So a loop that begins at the last node has
 * marked a caller when it reaches the caller. */
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
  sp_node_cut largest;
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
  st = sp_node_cut_make(&largest, mem, profile->nodes_max,
                        stacks->node_count - 1, nodes_weight, out);
  if (st)
    return st;
  nodes_cut(out, profile, &largest);
  nodes_number(out, stacks);
  return SPANPROF_OK;
}

void sp_pprof_nodes_dispose(sp_pprof_nodes *nodes, const sp_mem *mem) {
  sp_mem_free(mem, nodes->nodes);
  sp_mem_free(mem, nodes->locations);
  sp_mem_free(mem, nodes->functions);
}
