#include "api_tree.h"

#include "server/query/series/render_query.h"
#include "server/query/tree/wire_tree.h"

static spanprof_status tree_add(sp_wire_tree *tree, sp_query_plan *plan,
                                uint32_t side, sp_stack_tree **stacks) {
  spanprof_status st = sp_store_stacks(plan->query->serve->store,
                                       sp_query_plan_selector(plan), stacks);

  st = sp_query_plan_done(plan, st);
  if (st)
    return st;
  return sp_wire_tree_add(tree, *stacks, side);
}

static spanprof_status tree_put(sp_api *api, const sp_wire_tree *tree,
                                sp_stack_tree *const *stacks) {
  sp_wire_side sides[SP_WIRE_SIDES] = {{"self", "samples"}};
  sp_json *json = &api->json;
  const char *type, *unit;
  const spanprof_status st = sp_render_type(&api->plan, &type, &unit);

  uint32_t i;

  if (st)
    return st;
  if (stacks[1]) {
    sides[0] = (sp_wire_side){"left", "leftSamples"};
    sides[1] = (sp_wire_side){"right", "rightSamples"};
  }
  for (i = 0; i < SP_WIRE_SIDES; i++)
    if (!stacks[i] || !stacks[i]->is_counted)
      sides[i].count = NULL;
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
  sp_wire_tree_put(tree, json, sides, stacks[1] ? 2 : 1);
  sp_json_close(json, '}');
  return SPANPROF_OK;
}

spanprof_status sp_api_tree(sp_api *api, sp_query_plan *right) {
  sp_stack_tree *stacks[SP_WIRE_SIDES] = {0};
  sp_wire_tree tree;
  spanprof_status st = sp_wire_tree_init(&tree, api->query.mem);

  if (!st)
    st = tree_add(&tree, &api->plan, 0, &stacks[0]);
  if (!st && right)
    st = tree_add(&tree, right, 1, &stacks[1]);
  if (!st)
    st = sp_wire_tree_cut(&tree, SP_WIRE_NODES_MAX);
  if (!st)
    st = tree_put(api, &tree, stacks);
  api->response->gzip = !st && sp_http_takes_gzip(api->query.http);
  sp_wire_tree_dispose(&tree);
  sp_stack_tree_free(stacks[0]);
  sp_stack_tree_free(stacks[1]);
  return st;
}
