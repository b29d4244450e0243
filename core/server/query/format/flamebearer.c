#include "flamebearer.h"

#include <string.h>

#include "server/query/series/render_query.h"
#include "server/query/wire/json_writer.h"

#define BEARER_RATE_OBJECTS 100
#define BEARER_RATE_CPU     1000000000 /* Hz, for values in nanoseconds */

void sp_flamebearer_units(const char *type, const char *unit,
                          sp_flamebearer *out) {
  const size_t size = strlen(type);

  out->name = type;
  out->spy = "";
  out->sample_rate = BEARER_RATE_OBJECTS;
  out->units = unit;
  if (strcmp(type, "cpu") == 0) {
    out->units = "samples";
    out->sample_rate = BEARER_RATE_CPU;
  } else if (strcmp(type, "samples") == 0 ||
             (size >= 8 && strcmp(type + size - 8, "_objects") == 0)) {
    out->units = "objects";
  }
}

static void bearer_graph(sp_json *json, const sp_flame_graph *graph) {
  size_t i, j;

  sp_json_member_open(json, "flamebearer", '{');
  sp_json_member_open(json, "names", '[');
  for (i = 0; i < graph->name_count; i++)
    sp_json_text(json, graph->names[i]);
  sp_json_close(json, ']');
  sp_json_member_open(json, "levels", '[');
  for (i = 0; i < graph->row_count; i++) {
    sp_json_open(json, '[');
    for (j = graph->row_starts[i]; j < graph->row_starts[i + 1]; j++)
      sp_json_int(json, graph->values[j]);
    sp_json_close(json, ']');
  }
  sp_json_close(json, ']');
  sp_json_member_int(json, "numTicks", graph->total);
  sp_json_member_int(json, "maxSelf", graph->max_self);
  sp_json_close(json, '}');
}

static void bearer_put(sp_buffer *out, const sp_flamebearer *bearer,
                       const sp_flame_graph *graph) {
  const bool is_diff = graph->width == SP_DIFF_WIDTH;
  sp_json json = sp_json_of(out);

  sp_json_open(&json, '{');
  sp_json_member_int(&json, "version", 1);
  bearer_graph(&json, graph);
  sp_json_member_open(&json, "metadata", '{');
  sp_json_member_text(&json, "format", is_diff ? "double" : "single");
  sp_json_member_text(&json, "spyName", bearer->spy);
  sp_json_member_int(&json, "sampleRate", bearer->sample_rate);
  sp_json_member_text(&json, "units", bearer->units);
  sp_json_member_text(&json, "name", bearer->name);
  sp_json_close(&json, '}');
  sp_json_key(&json, "timeline");
  sp_json_raw(&json, bearer->timeline ? bearer->timeline : "null");
  sp_json_key(&json, "groups");
  sp_json_raw(&json, bearer->groups         ? bearer->groups
                     : bearer->groups_empty ? "{}"
                                            : "null");
  sp_json_key(&json, "heatmap");
  sp_json_null(&json);
  if (is_diff && graph->ticks[0])
    sp_json_member_int(&json, "leftTicks", graph->ticks[0]);
  if (is_diff && graph->ticks[1])
    sp_json_member_int(&json, "rightTicks", graph->ticks[1]);
  sp_json_close(&json, '}');
}

spanprof_status sp_flamebearer_put(sp_buffer *out, const sp_flamebearer *bearer,
                                   const sp_function_tree *tree) {
  sp_flame_graph graph;
  const spanprof_status st = sp_flame_graph_make(&graph, tree);

  if (st)
    return st;
  bearer_put(out, bearer, &graph);
  sp_flame_graph_dispose(&graph);
  return sp_buffer_status(out);
}

spanprof_status sp_flamebearer_put_plan(sp_buffer *out, sp_query_plan *plan,
                                        const sp_function_tree *tree,
                                        const char *timeline,
                                        const char *groups) {
  sp_flamebearer bearer = {.timeline = timeline, .groups = groups};
  const char *type, *unit;
  const spanprof_status st = sp_render_type(plan, &type, &unit);

  if (st)
    return st;
  sp_flamebearer_units(type, unit, &bearer);
  return sp_flamebearer_put(out, &bearer, tree);
}
