#include "dot_calls.h"

#include <math.h>
#include <string.h>

#include "server/model/sum.h"

void sp_dot_calls_dispose(sp_dot_calls *calls) {
  if (!calls->mem)
    return;
  sp_index_dispose(&calls->node_index, calls->mem);
  sp_index_dispose(&calls->edge_index, calls->mem);
  sp_mem_free(calls->mem, calls->nodes);
  sp_mem_free(calls->mem, calls->edges);
  *calls = (sp_dot_calls){0};
}

static uint32_t calls_node(sp_dot_calls *calls, uint32_t function,
                           int64_t line) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(SP_HASH_SEED, function), (uint64_t)line);
  uint32_t at, i = sp_index_first(&calls->node_index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&calls->node_index, hash, &at))
    if (calls->nodes[i].function == function && calls->nodes[i].line == line)
      return i;
  if (sp_index_reserve(&calls->node_index, calls->mem) ||
      sp_mem_reserve(calls->mem, (void **)&calls->nodes, &calls->node_capacity,
                     calls->node_count + 1, sizeof *calls->nodes))
    return SP_INDEX_NONE;
  i = (uint32_t)calls->node_count++;
  calls->nodes[i] = (sp_dot_node){.function = function, .line = line};
  sp_index_add(&calls->node_index, hash, i);
  return i;
}

static sp_dot_edge *calls_edge(sp_dot_calls *calls, uint32_t from,
                               uint32_t to) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, (uint64_t)from << 32 | to);
  uint32_t at, i = sp_index_first(&calls->edge_index, hash, &at);

  for (; i != SP_INDEX_NONE; i = sp_index_next(&calls->edge_index, hash, &at))
    if (calls->edges[i].from == from && calls->edges[i].to == to)
      return &calls->edges[i];
  if (sp_index_reserve(&calls->edge_index, calls->mem) ||
      sp_mem_reserve(calls->mem, (void **)&calls->edges, &calls->edge_capacity,
                     calls->edge_count + 1, sizeof *calls->edges))
    return NULL;
  i = (uint32_t)calls->edge_count++;
  calls->edges[i] = (sp_dot_edge){.from = from, .to = to, .is_inline = true};
  sp_index_add(&calls->edge_index, hash, i);
  return &calls->edges[i];
}

/* Count one line of a stack as a callee of the node *parent, and set *parent to
 * the line's node. `stack` is the stack's number + 1. */
static spanprof_status calls_step(sp_dot_calls *calls, const sp_tree_line *line,
                                  bool is_inline, uint32_t stack,
                                  int64_t weight, uint32_t *parent) {
  const uint32_t at = calls_node(calls, line->function, line->line);
  sp_dot_edge *edge;

  if (at == SP_INDEX_NONE)
    return SPANPROF_ERR_NOMEM;
  if (calls->nodes[at].seen != stack) {
    calls->nodes[at].seen = stack;
    calls->nodes[at].cum = sp_sum(calls->nodes[at].cum, weight);
  }
  if (*parent != SP_INDEX_NONE && *parent != at) {
    edge = calls_edge(calls, *parent, at);
    if (!edge)
      return SPANPROF_ERR_NOMEM;
    if (edge->seen != stack) {
      edge->seen = stack;
      edge->weight = sp_sum(edge->weight, weight);
      edge->is_inline = edge->is_inline && is_inline;
    }
  }
  *parent = at;
  return SPANPROF_OK;
}

/* Count the stack that ends at the tree node `leaf`. `path` is memory for as
 * many numbers as the tree has nodes. */
static spanprof_status calls_stack(sp_dot_calls *calls, uint32_t leaf,
                                   uint32_t *path) {
  const sp_stack_tree *stacks = calls->stacks;
  const int64_t weight = stacks->nodes[leaf].self;
  uint32_t depth = 0, at, parent = SP_INDEX_NONE;
  spanprof_status st;

  for (at = leaf; at != 0; at = stacks->nodes[at].parent) {
    path[depth++] = stacks->nodes[at].location;
    if (stacks->locations[path[depth - 1]].line_count == 0)
      return SPANPROF_OK;
  }
  while (depth > 0) {
    const sp_tree_location *location = &stacks->locations[path[--depth]];
    uint32_t i;

    for (i = location->line_count; i > 0; i--) {
      st = calls_step(calls, &location->lines[i - 1], i != location->line_count,
                      leaf + 1, weight, &parent);
      if (st)
        return st;
    }
  }
  calls->nodes[parent].flat = sp_sum(calls->nodes[parent].flat, weight);
  calls->total = sp_sum(calls->total, weight);
  return SPANPROF_OK;
}

static double entropy_part(int64_t weight, double total) {
  const double share = fabs((double)weight) / total;

  return share > 0 ? -share * log2(share) : 0;
}

/* Compute the score by which pprof orders the nodes of a graph: the entropy of
 * a node's incoming calls plus that of its outgoing calls, multiplied by the
 * node's total, plus its own value. The entropy measures how evenly the values
 * of the calls are distributed. It is 1 if there are no such calls. */
static spanprof_status calls_entropy(sp_dot_calls *calls) {
  double *sums =
      sp_mem_zero(calls->mem, (calls->node_count * 4 + 1) * sizeof *sums);
  double *in = sums, *out, *in_part, *out_part;
  size_t i;

  if (!sums)
    return SPANPROF_ERR_NOMEM;
  out = in + calls->node_count;
  in_part = out + calls->node_count;
  out_part = in_part + calls->node_count;
  for (i = 0; i < calls->edge_count; i++) {
    in[calls->edges[i].to] += (double)calls->edges[i].weight;
    out[calls->edges[i].from] += (double)calls->edges[i].weight;
  }
  for (i = 0; i < calls->edge_count; i++) {
    const sp_dot_edge *edge = &calls->edges[i];

    in_part[edge->to] += entropy_part(edge->weight, in[edge->to]);
    out_part[edge->from] += entropy_part(
        edge->weight, out[edge->from] + (double)calls->nodes[edge->from].flat);
  }
  for (i = 0; i < calls->node_count; i++) {
    sp_dot_node *node = &calls->nodes[i];
    double score = in[i] > 0 ? in_part[i] : 1;

    score += out[i] > 0 ? out_part[i] : 1;
    if (out[i] > 0 && node->flat > 0)
      score += entropy_part(node->flat, out[i] + (double)node->flat);
    node->entropy = floor(score * (double)node->cum) + (double)node->flat;
  }
  sp_mem_free(calls->mem, sums);
  return SPANPROF_OK;
}

spanprof_status sp_dot_calls_make(sp_dot_calls *out, const sp_mem *mem,
                                  const sp_stack_tree *stacks) {
  uint32_t *path = sp_mem_new(mem, stacks->node_count * sizeof *path);
  spanprof_status st = path ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
  uint32_t i;

  *out = (sp_dot_calls){.mem = mem, .stacks = stacks};
  for (i = 1; !st && i < stacks->node_count; i++) {
    st = sp_cancel_step(stacks->cancel);
    if (!st && stacks->nodes[i].self != 0)
      st = calls_stack(out, i, path);
  }
  sp_mem_free(mem, path);
  return st ? st : calls_entropy(out);
}
