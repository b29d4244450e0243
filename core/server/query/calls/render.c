#include "render.h"

#include <stdlib.h>
#include <string.h>

#include "connect_transport.h"
#include "server/query/format/dot_graph.h"
#include "server/query/format/flamebearer.h"
#include "server/query/selector/text_set.h"
#include "server/query/series/render_query.h"
#include "server/query/tree/stack_query.h"
#include "util/text/number.h"

/* Returns the parameter "max-nodes" or "maxNodes"; 0 if it is missing or
 * invalid. */
static uint64_t render_nodes(const sp_query *query) {
  const char *text = sp_http_query(query->http, "max-nodes");
  uint64_t nodes = 0;

  if (!text)
    text = sp_http_query(query->http, "maxNodes");
  if (text)
    sp_number_is(text, INT64_MAX, &nodes);
  return nodes;
}

static spanprof_status render_dot(sp_query_plan *plan, sp_buffer *out) {
  const uint64_t nodes = render_nodes(plan->query);
  const char *type, *unit;
  sp_stack_tree *stacks = NULL;
  spanprof_status st = sp_render_type(plan, &type, &unit);

  if (!st)
    st = sp_stack_query_read(plan, NULL, &stacks);
  if (!st)
    st = sp_dot_graph(out, stacks, type, unit, plan->selector.until_ms,
                      nodes ? nodes : SP_QUERY_DOT_NODES_DEFAULT);
  sp_stack_tree_free(stacks);
  return st;
}

static spanprof_status render_graph(sp_query_plan *plan, sp_buffer *out) {
  const char *group_by = sp_http_query(plan->query->http, "groupBy");
  const sp_mem *mem = plan->query->serve->mem;
  sp_stack_query stacks = {0};
  sp_buffer timeline, groups;
  size_t nodes_max;
  spanprof_status st = sp_stack_query_nodes(
      plan->query, (int64_t)render_nodes(plan->query), &nodes_max);

  if (st)
    return st;
  if (group_by && !*group_by)
    group_by = NULL;
  sp_buffer_init(&timeline, mem);
  sp_buffer_init(&groups, mem);
  st = sp_render_timeline(plan, NULL, group_by != NULL, &timeline);
  if (!st && group_by)
    st = sp_render_timeline(plan, group_by, false, &groups);
  if (!st)
    st = sp_stack_query_run(&stacks, plan, NULL, nodes_max);
  if (!st)
    st = sp_flamebearer_put_plan(out, plan, &stacks.tree, timeline.data,
                                 groups.size ? groups.data : NULL);
  sp_stack_query_dispose(&stacks);
  sp_buffer_dispose(&timeline);
  sp_buffer_dispose(&groups);
  return st;
}

static spanprof_status render_run(sp_query *query, const char **type,
                                  sp_buffer *out) {
  const char *format = sp_http_query(query->http, "format");
  const bool is_dot = format && strcmp(format, "dot") == 0;
  sp_query_plan plan;
  spanprof_status st;

  sp_query_plan_init(&plan, query);
  st = sp_render_plan(&plan, "query", "from", "until");
  if (!st)
    st = is_dot ? render_dot(&plan, out) : render_graph(&plan, out);
  if (is_dot)
    *type = "text/plain";
  sp_query_plan_dispose(&plan);
  return st;
}

static spanprof_status render_diff_run(sp_query *query, const char **type,
                                       sp_buffer *out) {
  sp_query_plan left, right;
  sp_stack_query stacks = {0};
  size_t nodes_max;
  spanprof_status st;

  (void)type;
  sp_query_plan_init(&left, query);
  sp_query_plan_init(&right, query);
  st = sp_render_plan(&left, "leftQuery", "leftFrom", "leftUntil");
  if (!st)
    st = sp_render_plan(&right, "rightQuery", "rightFrom", "rightUntil");
  if (!st &&
      strcmp(left.selector.profile_type, right.selector.profile_type) != 0)
    st = sp_query_invalid(query, "profile types must match");
  if (!st)
    st = sp_stack_query_nodes(query, (int64_t)render_nodes(query), &nodes_max);
  if (!st)
    st = sp_stack_query_diff(&stacks, &left, &right, NULL, NULL, nodes_max);
  if (!st)
    st = sp_flamebearer_put_plan(out, &left, &stacks.tree, NULL, NULL);
  sp_stack_query_dispose(&stacks);
  sp_query_plan_dispose(&left);
  sp_query_plan_dispose(&right);
  return st;
}

typedef struct render_values {
  const char *label;
  sp_text_set set;
  spanprof_status st;
} render_values;

static bool render_value(void *data, const sp_text_pairs *labels) {
  render_values *values = data;
  const char *value = sp_text_pairs_find(labels, values->label);

  if (value)
    values->st = sp_text_set_add(&values->set, value, NULL);
  return !values->st;
}

/* The request has no time range, so the call reads all profiles. */
static spanprof_status render_values_run(sp_query *query, const char **type,
                                         sp_buffer *out) {
  const sp_selector all = {.mem = query->mem,
                           .from_ms = INT64_MIN,
                           .until_ms = INT64_MAX,
                           .cancel = query->http->cancel};
  render_values values = {.label = sp_http_query(query->http, "label")};
  sp_json json = sp_json_of(out);
  spanprof_status st;
  size_t i;

  (void)type;
  if (!values.label || !*values.label)
    return sp_query_invalid(query, "label parameter is required");
  if (strcmp(values.label, "__name__") == 0)
    values.label = "__profile_type__";
  sp_text_set_init(&values.set, &query->arena);
  st = sp_store_series(query->serve->store, &all,
                       (sp_store_names){&values.label, 1}, render_value,
                       &values);
  if (!st)
    st = values.st;
  if (!st) {
    sp_text_set_sort(&values.set);
    sp_json_open(&json, '[');
    for (i = 0; i < values.set.count; i++)
      sp_json_text(&json, values.set.texts[i]);
    sp_json_close(&json, ']');
  }
  sp_text_set_dispose(&values.set);
  return st;
}

typedef spanprof_status (*render_run_fn)(sp_query *query, const char **type,
                                         sp_buffer *out);

/* Run a call. The paths exist only with the prefix "/pyroscope". */
static void render_answer(sp_serve *serve, const sp_http_request *http,
                          sp_http_response *response, render_run_fn run) {
  const char *type = "application/json";
  sp_query query;
  spanprof_status st;

  if (!strstr(http->full_path, "/pyroscope/")) {
    sp_http_answer(response, 404, "text/plain; charset=utf-8",
                   "404 page not found\n");
    return;
  }
  sp_query_init(&query, serve, http, response);
  st = run(&query, &type, &response->body);
  if (!st)
    st = sp_query_end(&query);
  if (st) {
    sp_query_explain(&query, st);
    sp_transport_refuse(&query.fault, response);
  } else {
    sp_http_set(response, "Content-Type", type);
    sp_http_pack(http, response);
  }
  sp_query_dispose(&query);
}

static void render_handle(void *data, const sp_http_request *http,
                          sp_http_response *response) {
  render_answer(data, http, response, render_run);
}

static void render_diff_handle(void *data, const sp_http_request *http,
                               sp_http_response *response) {
  render_answer(data, http, response, render_diff_run);
}

static void render_values_handle(void *data, const sp_http_request *http,
                                 sp_http_response *response) {
  render_answer(data, http, response, render_values_run);
}

spanprof_status sp_render_routes(sp_http_routes *routes, sp_serve *serve) {
  const sp_http_route all[] = {
      {.methods = "GET",
       .path = "/render",
       .name = "pyroscope_render",
       .handler = render_handle,
       .data = serve,
       .flags = SP_HTTP_SLOW},
      {.methods = "GET",
       .path = "/render-diff",
       .name = "pyroscope_render_diff",
       .handler = render_diff_handle,
       .data = serve,
       .flags = SP_HTTP_SLOW},
      {.methods = "GET",
       .path = "/label-values",
       .name = "pyroscope_label_values",
       .handler = render_values_handle,
       .data = serve,
       .flags = SP_HTTP_SLOW},
  };
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < SP_COUNT_OF(all); i++)
    st = sp_http_routes_add(routes, &all[i]);
  return st;
}
