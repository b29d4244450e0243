#include "stack_query.h"

#include <string.h>

#include "call_path.h"

void sp_stack_query_dispose(sp_stack_query *stacks) {
  sp_function_tree_dispose(&stacks->tree);
  sp_stack_tree_free(stacks->stacks[0]);
  sp_stack_tree_free(stacks->stacks[1]);
  memset(stacks, 0, sizeof *stacks);
}

spanprof_status sp_stack_query_nodes(sp_query *query, int64_t requested,
                                     size_t *out) {
  if (requested < 0)
    return sp_query_invalid(query,
                            "max flamegraph nodes limit must be set (max "
                            "allowed %d)",
                            SP_QUERY_NODES_MAX);
  if (requested > SP_QUERY_NODES_MAX)
    return sp_query_invalid(query,
                            "max flamegraph nodes limit %lld is greater than "
                            "allowed %d",
                            (long long)requested, SP_QUERY_NODES_MAX);
  *out = requested ? (size_t)requested : SP_QUERY_NODES_DEFAULT;
  return SPANPROF_OK;
}

spanprof_status sp_stack_query_read(sp_query_plan *plan,
                                    const sp_texts *call_sites,
                                    sp_stack_tree **out) {
  spanprof_status st = sp_store_stacks(plan->query->serve->store,
                                       sp_query_plan_selector(plan), out);

  st = sp_query_plan_done(plan, st);
  if (!st && call_sites && call_sites->count > 0)
    st = sp_call_path_keep(*out, call_sites->texts, call_sites->count);
  return st;
}

static spanprof_status stacks_add(sp_stack_query *out, sp_query_plan *plan,
                                  uint32_t side, const sp_texts *call_sites) {
  spanprof_status st;

  plan->selector.merges_lines = true;
  plan->selector.other = SP_FLAME_OTHER;
  st = sp_stack_query_read(plan, call_sites, &out->stacks[side]);

  return st ? st : sp_function_tree_add(&out->tree, out->stacks[side], side);
}

/* Read and merge the stacks of one plan or, if `right` is not NULL, of both
 * sides of a comparison. */
static spanprof_status stacks_run(sp_stack_query *out, sp_query_plan *left,
                                  sp_query_plan *right,
                                  const sp_texts *left_sites,
                                  const sp_texts *right_sites,
                                  size_t nodes_max) {
  spanprof_status st;

  memset(out, 0, sizeof *out);
  st = sp_function_tree_init(&out->tree, left->query->mem,
                             right ? SP_TREE_SIDES : 1, false);
  if (!st)
    st = stacks_add(out, left, 0, left_sites);
  if (!st && right)
    st = stacks_add(out, right, 1, right_sites);
  if (!st)
    st = sp_function_tree_cut(&out->tree, nodes_max, SP_FLAME_OTHER);
  if (st)
    sp_stack_query_dispose(out);
  return st;
}

spanprof_status sp_stack_query_run(sp_stack_query *out, sp_query_plan *plan,
                                   const sp_texts *call_sites,
                                   size_t nodes_max) {
  return stacks_run(out, plan, NULL, call_sites, NULL, nodes_max);
}

spanprof_status sp_stack_query_diff(sp_stack_query *out, sp_query_plan *left,
                                    sp_query_plan *right,
                                    const sp_texts *left_sites,
                                    const sp_texts *right_sites,
                                    size_t nodes_max) {
  return stacks_run(out, left, right, left_sites, right_sites, nodes_max);
}
