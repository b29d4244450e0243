#include "api_tree.h"

#include "server/query/series/render_query.h"
#include "server/query/tree/stack_query.h"

/* Most nodes in a response. Half as many nodes of a larger tree are kept,
 * because each kept node and the root may get a child SP_TREE_OTHER. */
#define TREE_NODES_MAX 1048576
#define TREE_NODES_CUT (TREE_NODES_MAX / 2 - 1)

static spanprof_status tree_add(sp_function_tree *tree, sp_query_plan *plan,
                                uint32_t side, sp_stack_tree **stacks) {
  spanprof_status st;

  plan->selector.merges_lines = true;
  st = sp_stack_query_read(plan, NULL, stacks);

  return st ? st : sp_function_tree_add(tree, *stacks, side);
}

static void tree_put_functions(sp_json *json, const sp_function_tree *tree) {
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
    sp_json_int(json, tree->functions[i].start_line);
  sp_json_close(json, ']');
  sp_json_close(json, '}');
}

/* Write one of the values of each node. */
static void tree_put_values(sp_json *json, const char *name,
                            const sp_call_tree *calls, size_t value) {
  size_t i;

  sp_json_member_open(json, name, '[');
  for (i = 0; i < calls->node_count; i++)
    sp_json_int(json, sp_call_tree_values(calls, i)[value]);
  sp_json_close(json, ']');
}

static void tree_put_nodes(sp_json *json, const sp_function_tree *tree,
                           sp_stack_tree *const *stacks) {
  static const char *const names[SP_TREE_SIDES][2] = {
      {"left", "leftSamples"}, {"right", "rightSamples"}};
  const bool is_diff = tree->side_count > 1;
  const sp_call_tree *calls = &tree->calls;
  uint32_t side;
  size_t i;

  sp_json_member_open(json, "nodes", '{');
  sp_json_member_open(json, "parent", '[');
  for (i = 0; i < calls->node_count; i++)
    sp_json_int(json, calls->nodes[i].parent);
  sp_json_close(json, ']');
  sp_json_member_open(json, "function", '[');
  for (i = 0; i < calls->node_count; i++)
    sp_json_int(json, i > 0 ? (int64_t)calls->nodes[i].function : -1);
  sp_json_close(json, ']');
  for (side = 0; side < tree->side_count; side++) {
    tree_put_values(json, is_diff ? names[side][0] : "self", calls, side);
    if (stacks[side]->is_counted)
      tree_put_values(json, is_diff ? names[side][1] : "samples", calls,
                      tree->side_count + side);
  }
  sp_json_close(json, '}');
}

static spanprof_status tree_put(sp_api *api, const sp_function_tree *tree,
                                sp_stack_tree *const *stacks) {
  sp_json *json = &api->json;
  const char *type, *unit;
  const spanprof_status st = sp_render_type(&api->plan, &type, &unit);

  if (st)
    return st;
  sp_json_open(json, '{');
  sp_json_member_text(json, "type", type);
  sp_json_member_text(json, "unit", unit);
  if (stacks[1]) {
    sp_json_member_open(json, "profiles", '[');
    sp_json_int(json, (int64_t)stacks[0]->profile_count);
    sp_json_int(json, (int64_t)stacks[1]->profile_count);
    sp_json_close(json, ']');
  } else {
    sp_json_member_int(json, "profiles", (int64_t)stacks[0]->profile_count);
  }
  if (tree->merged_count > 0)
    sp_json_member_int(json, "merged", (int64_t)tree->merged_count);
  tree_put_functions(json, tree);
  tree_put_nodes(json, tree, stacks);
  sp_json_close(json, '}');
  return SPANPROF_OK;
}

spanprof_status sp_api_tree(sp_api *api, sp_query_plan *right) {
  sp_stack_tree *stacks[SP_TREE_SIDES] = {0};
  sp_function_tree tree;
  spanprof_status st = sp_function_tree_init(&tree, api->query.mem,
                                             right ? SP_TREE_SIDES : 1, true);

  if (!st)
    st = tree_add(&tree, &api->plan, 0, &stacks[0]);
  if (!st && right)
    st = tree_add(&tree, right, 1, &stacks[1]);
  if (!st && tree.calls.node_count > TREE_NODES_MAX)
    st = sp_function_tree_cut(&tree, TREE_NODES_CUT, SP_TREE_OTHER);
  if (!st)
    st = tree_put(api, &tree, stacks);
  api->response->gzip = !st && sp_http_accepts_gzip(api->query.http);
  sp_function_tree_dispose(&tree);
  sp_stack_tree_free(stacks[0]);
  sp_stack_tree_free(stacks[1]);
  return st;
}
