/* /api/v1/lines: the values of one function by source line. */
#include "api_call.h"
#include "server/query/series/render_query.h"
#include "server/query/tree/line_table.h"
#include "server/query/tree/stack_query.h"

static void lines_put_rows(sp_json *json, const sp_line_table *table) {
  size_t i;

  sp_json_member_open(json, "lines", '{');
  sp_json_member_open(json, "line", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].line);
  sp_json_close(json, ']');
  sp_json_member_open(json, "self", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].self);
  sp_json_close(json, ']');
  sp_json_member_open(json, "total", '[');
  for (i = 0; i < table->count; i++)
    sp_json_int(json, table->rows[i].total);
  sp_json_close(json, ']');
  sp_json_close(json, '}');
}

static spanprof_status lines_put(sp_api *api, const sp_line_table *table) {
  sp_json *json = &api->json;
  const char *type, *unit;
  const spanprof_status st = sp_render_type(&api->plan, &type, &unit);

  if (st)
    return st;
  sp_json_open(json, '{');
  sp_json_member_text(json, "type", type);
  sp_json_member_text(json, "unit", unit);
  sp_json_member_int(json, "all", table->all);
  sp_json_member_int(json, "self", table->self);
  sp_json_member_int(json, "total", table->total);
  sp_json_member_int(json, "startLine", table->start_line);
  lines_put_rows(json, table);
  sp_json_close(json, '}');
  return SPANPROF_OK;
}

spanprof_status sp_api_lines(sp_api *api) {
  const char *name = sp_api_parameter(api, "function");
  const char *file = sp_http_query(api->query.http, "file");
  sp_stack_tree *stacks = NULL;
  sp_line_table table = {0};
  spanprof_status st = sp_api_plan(api);

  if (!st && !name)
    st = sp_query_invalid(&api->query, "function is missing");
  if (!st)
    st = sp_api_plan_trace_spans(&api->plan);
  if (!st)
    st = sp_stack_query_read(&api->plan, NULL, &stacks);
  if (!st)
    st = sp_line_table_make(&table, api->query.mem, stacks, name, file);
  if (!st)
    st = lines_put(api, &table);
  api->response->gzip = !st && sp_http_accepts_gzip(api->query.http);
  sp_line_table_dispose(&table);
  sp_stack_tree_free(stacks);
  return st;
}
