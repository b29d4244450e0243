#include "dot_graph.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dot_calls.h"
#include "dot_value.h"

#define DOT_EDGE_SHARE 1000 /* edges below 1/1000 are not drawn */
#define DOT_NODE_SHARE 200  /* nodes below 1/200 are not drawn */

typedef struct dot_drawing {
  sp_buffer *out;
  const sp_dot_calls *calls;
  sp_dot_unit unit;
  int64_t flat_max;
  uint32_t *numbers; /* the numbers of the nodes in the output, from 1 */
} dot_drawing;

/* An item to sort, with the graph, because qsort() passes no context to its
 * comparison. */
typedef struct dot_sorted {
  const sp_dot_calls *calls;
  const sp_dot_edge *edge;
  uint32_t number;
} dot_sorted;

static const sp_tree_function *dot_function(const sp_dot_calls *calls,
                                            uint32_t node) {
  return &calls->stacks->functions[calls->nodes[node].function];
}

static int dot_place_order(const sp_dot_calls *calls, uint32_t left,
                           uint32_t right) {
  const sp_tree_function *a = dot_function(calls, left);
  const sp_tree_function *b = dot_function(calls, right);
  int order = strcmp(a->name, b->name);

  if (order == 0)
    order = strcmp(a->file, b->file);
  if (order == 0)
    order = (calls->nodes[left].line > calls->nodes[right].line) -
            (calls->nodes[left].line < calls->nodes[right].line);
  return order;
}

static int dot_node_order(const void *a, const void *b) {
  const dot_sorted *left = a, *right = b;
  const sp_dot_node *one = &left->calls->nodes[left->number];
  const sp_dot_node *other = &left->calls->nodes[right->number];

  if (one->entropy != other->entropy)
    return one->entropy > other->entropy ? -1 : 1;
  return dot_place_order(left->calls, left->number, right->number);
}

static int dot_edge_order(const void *a, const void *b) {
  const dot_sorted *left = a, *right = b;
  int order;

  if (left->edge->weight != right->edge->weight)
    return left->edge->weight > right->edge->weight ? -1 : 1;
  order = dot_place_order(left->calls, left->edge->from, right->edge->from);
  return order ? order
               : dot_place_order(left->calls, left->edge->to, right->edge->to);
}

/* Append a text inside double quotes of DOT. */
static void dot_escape(sp_buffer *out, const char *text) {
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      sp_buffer_append(out, "\\", 1);
    if (*text == '\n')
      sp_buffer_text(out, "\\l");
    else
      sp_buffer_append(out, text, 1);
  }
}

/* Append a function's name with line breaks at "::" and dots. */
static void dot_broken_name(sp_buffer *out, const char *name) {
  for (; *name; name++) {
    const char one[2] = {*name, '\0'};

    if (name[0] == ':' && name[1] == ':')
      name++;
    else if (*name != '.') {
      dot_escape(out, one);
      continue;
    }
    sp_buffer_text(out, "\\n");
  }
  sp_buffer_text(out, "\\n");
}

/* Append `before`, the place of a node ("query.c:130") and `end`. A missing
 * file or line is left out. If both are missing, nothing is appended. */
static void dot_file(dot_drawing *drawing, uint32_t node, bool base,
                     const char *before, const char *end) {
  const char *file = dot_function(drawing->calls, node)->file;
  const char *slash = strrchr(file, '/');
  const int64_t line = drawing->calls->nodes[node].line;

  if (!*file && line == 0)
    return;
  sp_buffer_text(drawing->out, before);
  dot_escape(drawing->out, base && slash ? slash + 1 : file);
  if (line != 0)
    sp_buffer_format(drawing->out, ":%lld", (long long)line);
  sp_buffer_text(drawing->out, end);
}

/* Append the name and place of a node: "query_run query.c:130". */
static void dot_place(dot_drawing *drawing, uint32_t node) {
  dot_escape(drawing->out, dot_function(drawing->calls, node)->name);
  dot_file(drawing, node, false, " ", "");
}

static void dot_weight(dot_drawing *drawing, int64_t value) {
  sp_dot_value(drawing->out, &drawing->unit, value);
  sp_buffer_text(drawing->out, " (");
  sp_dot_share(drawing->out, value, drawing->calls->total);
  sp_buffer_text(drawing->out, ")");
}

/* Returns the font size of a node, which grows with the square root of its own
 * value: from 8 for the value 0 to 24 for the largest one. */
static int dot_font_size(const dot_drawing *drawing, int64_t flat) {
  int size = 8;

  if (flat <= 0 || drawing->flat_max <= 0)
    return size;
  while (size < 24 &&
         (double)(size - 8) * (size - 8) * (double)drawing->flat_max <
             256.0 * (double)flat)
    size++;
  return size;
}

static void dot_put_node(dot_drawing *drawing, uint32_t number) {
  const sp_dot_node *node = &drawing->calls->nodes[number];
  const double share = (double)node->cum / (double)drawing->calls->total;
  const uint32_t id = drawing->numbers[number];
  sp_buffer *out = drawing->out;

  sp_buffer_format(out, "N%u [label=\"", id);
  dot_broken_name(out, dot_function(drawing->calls, number)->name);
  dot_file(drawing, number, true, "", "\\n");
  if (node->flat != 0)
    dot_weight(drawing, node->flat);
  else
    sp_buffer_text(out, "0");
  if (node->cum != node->flat) {
    sp_buffer_text(out, node->flat != 0 ? "\\nof " : " of ");
    dot_weight(drawing, node->cum);
  }
  sp_buffer_format(out, "\" id=\"node%u\" fontsize=%d shape=box tooltip=\"", id,
                   dot_font_size(drawing, node->flat));
  dot_place(drawing, number);
  sp_buffer_text(out, " (");
  sp_dot_value(out, &drawing->unit, node->cum);
  sp_buffer_text(out, ")\" color=\"");
  sp_dot_colour(out, share, false);
  sp_buffer_text(out, "\" fillcolor=\"");
  sp_dot_colour(out, share, true);
  sp_buffer_text(out, "\"]\n");
}

static void dot_put_tooltip(dot_drawing *drawing, const sp_dot_edge *edge,
                            const char *name) {
  sp_buffer_format(drawing->out, " %s=\"", name);
  dot_place(drawing, edge->from);
  sp_buffer_text(drawing->out, " -> ");
  dot_place(drawing, edge->to);
  sp_buffer_text(drawing->out, " (");
  sp_dot_value(drawing->out, &drawing->unit, edge->weight);
  sp_buffer_text(drawing->out, ")\"");
}

static void dot_put_edge(dot_drawing *drawing, const sp_dot_edge *edge) {
  const double share = (double)edge->weight / (double)drawing->calls->total;
  const int weight = 1 + (int)(share * 100 + 1e-9);
  const int width = 1 + (int)(share * 5 + 1e-9);
  sp_buffer *out = drawing->out;

  sp_buffer_format(out, "N%u -> N%u [label=\" ", drawing->numbers[edge->from],
                   drawing->numbers[edge->to]);
  sp_dot_value(out, &drawing->unit, edge->weight);
  sp_buffer_text(out, edge->is_inline ? "\\n (inline)\"" : "\"");
  if (weight > 1)
    sp_buffer_format(out, " weight=%d", weight);
  if (width > 1)
    sp_buffer_format(out, " penwidth=%d", width);
  sp_buffer_text(out, " color=\"");
  sp_dot_colour(out, share, false);
  sp_buffer_text(out, "\"");
  dot_put_tooltip(drawing, edge, "tooltip");
  dot_put_tooltip(drawing, edge, "labeltooltip");
  sp_buffer_text(out, "]\n");
}

static spanprof_status dot_put_nodes(dot_drawing *drawing, size_t nodes_max) {
  const sp_dot_calls *calls = drawing->calls;
  const sp_mem *mem = calls->mem;
  dot_sorted *sorted = sp_mem_new(mem, calls->node_count * sizeof *sorted);
  uint32_t i, number = 0;

  if (!sorted)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < calls->node_count; i++)
    sorted[i] = (dot_sorted){.calls = calls, .number = i};
  qsort(sorted, calls->node_count, sizeof *sorted, dot_node_order);
  for (i = 0; i < calls->node_count && number < nodes_max; i++)
    if (calls->nodes[sorted[i].number].cum >= calls->total / DOT_NODE_SHARE)
      drawing->numbers[sorted[i].number] = ++number;
  for (i = 0; i < calls->node_count; i++)
    if (drawing->numbers[sorted[i].number])
      dot_put_node(drawing, sorted[i].number);
  sp_mem_free(mem, sorted);
  return SPANPROF_OK;
}

static spanprof_status dot_put_edges(dot_drawing *drawing) {
  const sp_dot_calls *calls = drawing->calls;
  const sp_mem *mem = calls->mem;
  dot_sorted *sorted = sp_mem_new(mem, calls->edge_count * sizeof *sorted);
  size_t i;

  if (!sorted)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < calls->edge_count; i++)
    sorted[i] = (dot_sorted){.calls = calls, .edge = &calls->edges[i]};
  qsort(sorted, calls->edge_count, sizeof *sorted, dot_edge_order);
  for (i = 0; i < calls->edge_count; i++) {
    const sp_dot_edge *edge = sorted[i].edge;

    if (drawing->numbers[edge->from] && drawing->numbers[edge->to] &&
        edge->weight >= calls->total / DOT_EDGE_SHARE)
      dot_put_edge(drawing, edge);
  }
  sp_mem_free(mem, sorted);
  return SPANPROF_OK;
}

static void dot_put_head(dot_drawing *drawing, const char *type,
                         int64_t time_ms) {
  const time_t time_s = (time_t)(time_ms / 1000);
  sp_buffer *out = drawing->out;
  char text[64] = "";
  struct tm parts;

  if (gmtime_r(&time_s, &parts))
    strftime(text, sizeof text, "%Y-%m-%d %H:%M (UTC)", &parts);
  sp_buffer_text(out, "digraph \"unnamed\" {\n"
                      "node [style=filled fillcolor=\"#f8f8f8\"]\n"
                      "subgraph cluster_L { \"Type: ");
  dot_escape(out, type);
  sp_buffer_text(out, "\" [shape=box fontsize=16 label=\"Type: ");
  dot_escape(out, type);
  sp_buffer_format(out, "\\lTime: %s\\lShowing nodes accounting for ", text);
  sp_dot_value(out, &drawing->unit, drawing->calls->total);
  sp_buffer_text(out, ", 100% of ");
  sp_dot_value(out, &drawing->unit, drawing->calls->total);
  sp_buffer_text(out, " total\\l\"] }\n");
}

static void dot_measure(dot_drawing *drawing, const char *unit) {
  const sp_dot_calls *calls = drawing->calls;
  int64_t smallest = calls->total;
  size_t i;

  for (i = 0; i < calls->node_count; i++) {
    const sp_dot_node *node = &calls->nodes[i];
    const int64_t value = node->flat ? node->flat : node->cum;

    if (node->flat > drawing->flat_max)
      drawing->flat_max = node->flat;
    if (value > 0 && value < smallest)
      smallest = value;
  }
  drawing->unit = sp_dot_unit_of(unit, smallest, calls->total);
}

spanprof_status sp_dot_graph(sp_buffer *out, const sp_stack_tree *stacks,
                             const char *type, const char *unit,
                             int64_t time_ms, size_t nodes_max) {
  sp_dot_calls calls;
  dot_drawing drawing = {.out = out, .calls = &calls};
  spanprof_status st = sp_dot_calls_make(&calls, out->mem, stacks);

  if (st || calls.total <= 0)
    goto cleanup;
  drawing.numbers =
      sp_mem_zero(out->mem, calls.node_count * sizeof *drawing.numbers);
  if (!drawing.numbers) {
    st = SPANPROF_ERR_NOMEM;
    goto cleanup;
  }
  dot_measure(&drawing, unit);
  dot_put_head(&drawing, type, time_ms);
  st = dot_put_nodes(&drawing, nodes_max);
  if (!st)
    st = dot_put_edges(&drawing);
  sp_buffer_text(out, "}\n");

cleanup:
  sp_mem_free(out->mem, drawing.numbers);
  sp_dot_calls_dispose(&calls);
  return st ? st : sp_buffer_status(out);
}
