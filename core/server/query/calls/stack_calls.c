#include <stdio.h>

#include "query_calls.h"
#include "server/query/format/dot_graph.h"
#include "server/query/format/go_pgo.h"
#include "server/query/format/pprof_reply.h"
#include "server/query/tree/stack_query.h"

static void stack_put_graph(sp_reply *reply, const sp_flame_graph *graph) {
  size_t i;

  sp_reply_open(reply, 1, "flamegraph");
  sp_reply_texts(reply, 1, "names", graph->names, graph->name_count);
  sp_reply_list(reply, "levels");
  for (i = 0; i < graph->row_count; i++) {
    sp_reply_item(reply, 2);
    sp_reply_ints(reply, 1, "values", graph->values + graph->row_starts[i],
                  graph->row_starts[i + 1] - graph->row_starts[i]);
    sp_reply_close(reply);
  }
  sp_reply_list_end(reply);
  sp_reply_int(reply, 3, "total", graph->total);
  sp_reply_int(reply, 4, "maxSelf", graph->max_self);
  if (graph->width == SP_DIFF_WIDTH) {
    sp_reply_int(reply, 5, "leftTicks", graph->ticks[0]);
    sp_reply_int(reply, 6, "rightTicks", graph->ticks[1]);
  }
  sp_reply_close(reply);
}

static spanprof_status stack_reply_graph(sp_reply *reply,
                                         const sp_function_tree *tree) {
  sp_flame_graph graph;
  spanprof_status st = sp_flame_graph_make(&graph, tree);

  if (!st)
    stack_put_graph(reply, &graph);
  sp_flame_graph_dispose(&graph);
  return st;
}

static spanprof_status stack_reply_tree(sp_reply *reply,
                                        const sp_function_tree *tree) {
  sp_buffer bytes;
  spanprof_status st;

  sp_buffer_init(&bytes, tree->calls.mem);
  bytes.size_max = SP_HTTP_BODY_MAX;
  st = sp_tree_bytes(&bytes, tree);
  if (!st)
    sp_reply_bytes(reply, 2, "tree", bytes.data, bytes.size);
  sp_buffer_dispose(&bytes);
  return st;
}

/* As in Pyroscope, the number of nodes that a request allows for a call graph
 * or pprof has no upper limit. */
static spanprof_status stack_reply_dot(sp_query_plan *plan,
                                       const sp_query_request *request,
                                       sp_reply *reply) {
  const size_t nodes_max = request->max_nodes > 0 ? (size_t)request->max_nodes
                                                  : SP_QUERY_DOT_NODES_DEFAULT;
  sp_stack_tree *stacks = NULL;
  sp_buffer text;
  char type[5][64] = {""};
  spanprof_status st = sp_stack_query_read(plan, &request->call_sites, &stacks);

  sscanf(plan->selector.profile_type, "%63[^:]:%63[^:]:%63[^:]:%63[^:]:%63[^:]",
         type[0], type[1], type[2], type[3], type[4]);
  sp_buffer_init(&text, plan->query->mem);
  text.size_max = SP_HTTP_BODY_MAX;
  if (!st)
    st = sp_dot_graph(&text, stacks, type[1], type[2], plan->selector.until_ms,
                      nodes_max);
  if (!st && text.size > 0)
    sp_reply_text(reply, 3, "dot", text.data);
  sp_buffer_dispose(&text);
  sp_stack_tree_free(stacks);
  return st;
}

/* If the request has a selector for Go's profile-guided optimization, its call
 * sites and number of nodes are ignored. */
static spanprof_status stack_reply_pprof(sp_query_plan *plan,
                                         const sp_query_request *request,
                                         sp_reply *reply) {
  const bool is_pgo = request->has_go_pgo;
  sp_stack_tree *stacks = NULL;
  sp_pprof_reply profile = {.profile_type = plan->selector.profile_type,
                            .time_ms = plan->selector.until_ms,
                            .drop_unnamed = true};
  spanprof_status st =
      sp_stack_query_read(plan, is_pgo ? NULL : &request->call_sites, &stacks);

  if (!st && is_pgo)
    st = sp_go_pgo_trim(
        stacks,
        request->keep_locations > 0 ? (size_t)request->keep_locations : 0,
        request->aggregate_callees);
  else if (request->max_nodes > 0)
    profile.nodes_max = (size_t)request->max_nodes;
  profile.stacks = stacks;
  if (!st)
    st = sp_pprof_reply_put(reply, plan->query->mem, &profile);
  sp_stack_tree_free(stacks);
  return st;
}

static spanprof_status stack_reply_names(sp_query_plan *plan,
                                         const sp_query_request *request,
                                         sp_reply *reply) {
  sp_stack_query stacks = {0};
  size_t nodes_max;
  spanprof_status st =
      sp_stack_query_nodes(plan->query, request->max_nodes, &nodes_max);

  if (!st)
    st = sp_stack_query_run(&stacks, plan, &request->call_sites, nodes_max);
  if (!st && request->format == SP_FORMAT_TREE)
    st = stack_reply_tree(reply, &stacks.tree);
  else if (!st)
    st = stack_reply_graph(reply, &stacks.tree);
  sp_stack_query_dispose(&stacks);
  return st;
}

spanprof_status sp_call_stacktraces(sp_query *query,
                                    const sp_query_request *request,
                                    sp_reply *reply) {
  sp_query_plan plan;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  st = sp_query_plan_request(&plan, request);
  if (!st && request->format == SP_FORMAT_DOT) {
    st = stack_reply_dot(&plan, request, reply);
  } else if (!st && request->format == SP_FORMAT_PPROF) {
    sp_reply_open(reply, 5, "pprof");
    sp_reply_open(reply, 1, "profile");
    st = stack_reply_pprof(&plan, request, reply);
    sp_reply_close(reply);
    sp_reply_close(reply);
  } else if (!st) {
    st = stack_reply_names(&plan, request, reply);
  }
  sp_query_plan_dispose(&plan);
  return st;
}

/* A deprecated call, which does the same as SelectMergeStacktraces with spans,
 * but has only two formats. */
spanprof_status sp_call_span_profile(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  sp_query_request same = *request;

  if (same.format != SP_FORMAT_TREE)
    same.format = SP_FORMAT_FLAMEGRAPH;
  return sp_call_stacktraces(query, &same, reply);
}

spanprof_status sp_call_profile(sp_query *query,
                                const sp_query_request *request,
                                sp_reply *reply) {
  sp_query_plan plan;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  st = sp_query_plan_request(&plan, request);
  if (!st)
    st = stack_reply_pprof(&plan, request, reply);
  sp_query_plan_dispose(&plan);
  return st;
}

/* Plan one side of a comparison. As in Pyroscope, the message of an error
 * begins with the error code. The message for an invalid type does not, because
 * sp_call_diff() checks the types first. */
static spanprof_status diff_plan(sp_query_plan *plan,
                                 const sp_query_request *request) {
  spanprof_status st = sp_query_plan_request(plan, request);

  if (st == SPANPROF_ERR_ARGUMENT)
    sp_query_fault_prefix(&plan->query->fault, "%s: ", plan->query->fault.code);
  return st;
}

spanprof_status sp_call_diff(sp_query *query, const sp_query_request *request,
                             sp_reply *reply) {
  static const sp_query_request empty;
  const sp_query_request *left = request->left ? request->left : &empty;
  const sp_query_request *right = request->right ? request->right : &empty;
  sp_query_plan left_plan, right_plan;
  sp_stack_query stacks = {0};
  size_t nodes_max, right_max;
  spanprof_status st;

  sp_query_plan_init(&left_plan, query);
  sp_query_plan_init(&right_plan, query);
  st = sp_query_plan_type(&left_plan, left->profile_type);
  if (!st)
    st = sp_query_plan_type(&right_plan, right->profile_type);
  if (!st)
    st = sp_stack_query_nodes(query, left->max_nodes, &nodes_max);
  if (!st)
    st = sp_stack_query_nodes(query, right->max_nodes, &right_max);
  if (!st)
    st = diff_plan(&left_plan, left);
  if (!st)
    st = diff_plan(&right_plan, right);
  if (!st)
    st = sp_stack_query_diff(&stacks, &left_plan, &right_plan,
                             &left->call_sites, &right->call_sites,
                             nodes_max > right_max ? nodes_max : right_max);
  if (!st)
    st = stack_reply_graph(reply, &stacks.tree);
  sp_stack_query_dispose(&stacks);
  sp_query_plan_dispose(&left_plan);
  sp_query_plan_dispose(&right_plan);
  return st;
}
