/* Merged profiles and comparisons in several formats. */
#include <string.h>

#include "api_tree.h"
#include "server/query/format/flamebearer.h"
#include "server/query/format/pprof_reply.h"
#include "server/query/series/render_query.h"
#include "server/query/tree/stack_query.h"

static spanprof_status profile_nodes(sp_api *api, size_t *out) {
  int64_t requested;
  spanprof_status st = sp_api_number(api, "maxNodes", 0, &requested);

  return st ? st : sp_stack_query_nodes(&api->query, requested, out);
}

static void profile_pprof_headers(sp_api *api) {
  sp_http_set(api->response, "Content-Type", "application/octet-stream");
  sp_http_set(api->response, "Content-Disposition",
              "attachment; filename=\"profile.pb\"");
}

static spanprof_status profile_pprof(sp_api *api) {
  sp_pprof_reply profile = {.profile_type = api->plan.selector.profile_type,
                            .time_ms = api->plan.selector.until_ms};
  sp_stack_tree *stacks = NULL;
  sp_reply reply;
  spanprof_status st = sp_store_stacks(
      api->query.serve->store, sp_query_plan_selector(&api->plan), &stacks);

  st = sp_query_plan_done(&api->plan, st);
  if (!st) {
    profile.stacks = stacks;
    sp_reply_begin(&reply, &api->response->body, false);
    st = sp_pprof_reply_put(&reply, api->query.mem, &profile);
  }
  sp_stack_tree_free(stacks);
  profile_pprof_headers(api);
  return st;
}

/* Write the samples as pprof, each with its labels, for `spanprof report`. */
static spanprof_status profile_pprof_labelled(sp_api *api) {
  sp_pprof_reply profile = {.profile_type = api->plan.selector.profile_type};
  sp_span_parents parents;
  sp_stack_tree *stacks = NULL;
  sp_reply reply;
  spanprof_status st = sp_store_samples(
      api->query.serve->store, sp_query_plan_selector(&api->plan), &stacks);

  st = sp_query_plan_done(&api->plan, st);
  if (st)
    return st;
  st = sp_span_parents_read(&parents, &api->query, stacks);
  if (!st) {
    profile.stacks = stacks;
    profile.parents = &parents;
    sp_reply_begin(&reply, &api->response->body, false);
    st = sp_pprof_reply_put(&reply, api->query.mem, &profile);
  }
  sp_span_parents_dispose(&parents);
  sp_stack_tree_free(stacks);
  profile_pprof_headers(api);
  return st;
}

static spanprof_status profile_pprof_either(sp_api *api) {
  const char *labels = sp_api_parameter(api, "labels");

  if (labels && strcmp(labels, "0") != 0 && strcmp(labels, "1") != 0)
    return sp_query_invalid(&api->query, "labels must be 0 or 1: \"%s\"",
                            labels);
  return labels && *labels == '1' ? profile_pprof_labelled(api)
                                  : profile_pprof(api);
}

spanprof_status sp_api_profile(sp_api *api) {
  const char *format = sp_api_parameter(api, "format");
  const bool folded = format && strcmp(format, "folded") == 0;
  sp_stack_query stacks = {0};
  size_t nodes_max = 0;
  spanprof_status st = sp_api_plan(api);

  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  if (!st && format && strcmp(format, "pprof") == 0)
    return profile_pprof_either(api);
  if (!st && format && strcmp(format, "tree") == 0)
    return sp_api_tree(api, NULL);
  if (!st && format && !folded && strcmp(format, "flamegraph") != 0)
    return sp_query_invalid(
        &api->query,
        "format must be one of flamegraph, folded, pprof, tree: \"%s\"",
        format);
  if (!st)
    st = profile_nodes(api, &nodes_max);
  if (!st)
    st = sp_stack_query_run(&stacks, &api->plan, NULL,
                            folded ? SIZE_MAX : nodes_max);
  if (!st && folded) {
    sp_http_set(api->response, "Content-Type", "text/plain; charset=utf-8");
    st = sp_tree_folded(&api->response->body, &stacks.tree);
  } else if (!st) {
    st = sp_flamebearer_put_plan(&api->response->body, &api->plan, &stacks.tree,
                                 NULL, NULL);
  }
  sp_stack_query_dispose(&stacks);
  return st;
}

static spanprof_status diff_bearer(sp_api *api, sp_query_plan *right) {
  sp_stack_query stacks = {0};
  size_t nodes_max = 0;
  spanprof_status st = profile_nodes(api, &nodes_max);

  if (!st)
    st = sp_stack_query_diff(&stacks, &api->plan, right, NULL, NULL, nodes_max);
  if (!st)
    st = sp_flamebearer_put_plan(&api->response->body, &api->plan, &stacks.tree,
                                 NULL, NULL);
  sp_stack_query_dispose(&stacks);
  return st;
}

static spanprof_status diff_plan(sp_api *api, sp_query_plan *plan,
                                 const char *side) {
  spanprof_status st = sp_api_plan_side(plan, side);

  if (!st)
    st = sp_api_plan_trace_spans(plan);
  if (st)
    api->side = side;
  return st;
}

spanprof_status sp_api_diff(sp_api *api) {
  const char *format = sp_api_parameter(api, "format");
  const bool is_tree = format && strcmp(format, "tree") == 0;
  sp_query_plan right;
  spanprof_status st;

  sp_query_plan_init(&right, &api->query);
  st = diff_plan(api, &api->plan, "left");
  if (!st)
    st = diff_plan(api, &right, "right");
  if (!st &&
      strcmp(api->plan.selector.profile_type, right.selector.profile_type) != 0)
    st = sp_query_invalid(&api->query,
                          "the two queries of a comparison must have the same "
                          "profile type, not %s and %s",
                          api->plan.selector.profile_type,
                          right.selector.profile_type);
  if (!st && format && !is_tree && strcmp(format, "flamegraph") != 0)
    st = sp_query_invalid(
        &api->query, "format must be one of flamegraph, tree: \"%s\"", format);
  if (!st)
    st = is_tree ? sp_api_tree(api, &right) : diff_bearer(api, &right);
  sp_query_plan_dispose(&right);
  return st;
}
