#include "flame_graph.h"

#include <string.h>

#include "profile/pprof/varint.h"

void sp_flame_graph_dispose(sp_flame_graph *graph) {
  if (!graph->mem)
    return;
  sp_mem_free(graph->mem, graph->names);
  sp_mem_free(graph->mem, graph->values);
  sp_mem_free(graph->mem, graph->row_starts);
  *graph = (sp_flame_graph){0};
}

/* Nodes in the order of a walk in depth that enters the last child first.
 * `order` holds node_count numbers, and so does `stack`. */
static void flame_walk(const sp_name_tree *tree, uint32_t *order,
                       uint32_t *stack) {
  size_t depth = 0, count = 0;
  uint32_t i;

  stack[depth++] = 0;
  while (depth > 0) {
    const uint32_t at = stack[--depth];
    const sp_name_node *node = &tree->nodes[at];

    order[count++] = at;
    for (i = 0; i < node->child_count; i++)
      stack[depth++] = tree->children[node->first_child + i];
  }
}

/* Number the names as the walk meets them. In a single graph a function called
 * "total" has the root's number. */
static void flame_number_names(sp_flame_graph *graph, const sp_name_tree *tree,
                               const uint32_t *order, uint32_t *numbers,
                               bool shared_total) {
  size_t i;

  memset(numbers, 0xff, tree->name_count * sizeof *numbers);
  for (i = 0; i < tree->node_count; i++) {
    const uint32_t name = tree->nodes[order[i]].name;

    if (numbers[name] != SP_INDEX_NONE)
      continue;
    if (shared_total && name > 0 && strcmp(tree->names[name], "total") == 0) {
      numbers[name] = 0;
      continue;
    }
    numbers[name] = (uint32_t)graph->name_count;
    graph->names[graph->name_count++] = tree->names[name];
  }
}

/* Where a node begins, on both sides. */
typedef struct flame_place {
  uint32_t node;
  int64_t x[SP_NAME_TREE_SIDES];
} flame_place;

static void flame_put(sp_flame_graph *graph, const sp_name_node *node,
                      const flame_place *place, uint32_t number,
                      int64_t *row_end, int64_t *value) {
  const uint32_t sides = graph->width == SP_DIFF_WIDTH ? 2 : 1;
  uint32_t side;

  for (side = 0; side < sides; side++) {
    *value++ = place->x[side] - row_end[side];
    *value++ = node->total[side];
    *value++ = node->self[side];
    row_end[side] = sp_sum(place->x[side], node->total[side]);
    if (node->self[side] > graph->max_self)
      graph->max_self = node->self[side];
  }
  *value = number;
}

/* Row by row: the children of a row's nodes, in order, are the next row. */
static void flame_rows(sp_flame_graph *graph, const sp_name_tree *tree,
                       const uint32_t *numbers, flame_place *places) {
  size_t begin = 0, end = 1, next, i;
  uint32_t child, side;

  places[0] = (flame_place){0};
  while (begin < end) {
    int64_t row_end[SP_NAME_TREE_SIDES] = {0};

    graph->row_starts[graph->row_count++] = begin * graph->width;
    for (i = begin, next = end; i < end; i++) {
      const sp_name_node *node = &tree->nodes[places[i].node];
      int64_t x[SP_NAME_TREE_SIDES];

      for (side = 0; side < SP_NAME_TREE_SIDES; side++)
        x[side] = sp_sum(places[i].x[side], node->self[side]);
      flame_put(graph, node, &places[i], numbers[node->name], row_end,
                &graph->values[i * graph->width]);
      for (child = 0; child < node->child_count; child++) {
        const uint32_t at = tree->children[node->first_child + child];

        places[next++] = (flame_place){.node = at, .x = {x[0], x[1]}};
        for (side = 0; side < SP_NAME_TREE_SIDES; side++)
          x[side] = sp_sum(x[side], tree->nodes[at].total[side]);
      }
    }
    begin = end;
    end = next;
  }
  graph->row_starts[graph->row_count] = end * graph->width;
}

spanprof_status sp_flame_graph_make(sp_flame_graph *out, sp_name_tree *tree,
                                    bool is_diff) {
  const sp_mem *mem = tree->mem;
  const size_t count = tree->node_count;
  uint32_t *order = sp_mem_new(mem, count * sizeof *order);
  uint32_t *numbers =
      sp_mem_new(mem, sp_max_u64(count, tree->name_count) * sizeof *numbers);
  flame_place *places = sp_mem_new(mem, count * sizeof *places);
  spanprof_status st = SPANPROF_ERR_NOMEM;

  *out = (sp_flame_graph){.mem = mem,
                          .width = is_diff ? SP_DIFF_WIDTH : SP_FLAME_WIDTH};
  out->names = sp_mem_new(mem, tree->name_count * sizeof *out->names);
  out->values = sp_mem_new(mem, count * out->width * sizeof *out->values);
  out->row_starts = sp_mem_new(mem, (count + 1) * sizeof *out->row_starts);
  if (order && numbers && places && out->names && out->values &&
      out->row_starts)
    st = sp_name_tree_order(tree, !is_diff);
  if (!st) {
    flame_walk(tree, order, numbers);
    flame_number_names(out, tree, order, numbers, !is_diff);
    flame_rows(out, tree, numbers, places);
    memcpy(out->ticks, tree->nodes[0].total, sizeof out->ticks);
    out->total = sp_sum(out->ticks[0], out->ticks[1]);
  } else {
    sp_flame_graph_dispose(out);
  }
  sp_mem_free(mem, order);
  sp_mem_free(mem, numbers);
  sp_mem_free(mem, places);
  return st;
}

spanprof_status sp_tree_bytes(sp_buffer *out, sp_name_tree *tree) {
  uint32_t *order = sp_mem_new(tree->mem, tree->node_count * sizeof *order);
  uint32_t *stack = sp_mem_new(tree->mem, tree->node_count * sizeof *stack);
  spanprof_status st = SPANPROF_ERR_NOMEM;
  size_t i;

  if (order && stack)
    st = sp_name_tree_order(tree, false);
  if (!st)
    flame_walk(tree, order, stack);
  for (i = 0; !st && !out->failed && i < tree->node_count; i++) {
    const sp_name_node *node = &tree->nodes[order[i]];
    const char *name = order[i] == 0 ? "" : tree->names[node->name];

    sp_varint_append(out, strlen(name));
    sp_buffer_append(out, name, strlen(name));
    sp_varint_append(out, (uint64_t)node->self[0]);
    sp_varint_append(out, node->child_count);
  }
  sp_mem_free(tree->mem, order);
  sp_mem_free(tree->mem, stack);
  return st ? st : sp_buffer_status(out);
}

/* A name as a folded stack can hold it: without what separates. */
static void folded_name(sp_buffer *out, const char *name) {
  for (;;) {
    const size_t plain = strcspn(name, ";\n");

    sp_buffer_append(out, name, plain);
    name += plain;
    if (!*name)
      break;
    sp_buffer_append(out, *name++ == ';' ? ":" : " ", 1);
  }
}

spanprof_status sp_tree_folded(sp_buffer *out, sp_name_tree *tree) {
  uint32_t *path = sp_mem_new(tree->mem, tree->node_count * sizeof *path);
  spanprof_status st = SPANPROF_OK;
  size_t i, depth;
  uint32_t at;

  if (!path)
    return SPANPROF_ERR_NOMEM;
  for (i = 1; !st && i < tree->node_count && !out->failed; i++) {
    st = sp_cancel_step(tree->cancel);
    if (tree->nodes[i].self[0] == 0)
      continue;
    for (depth = 0, at = (uint32_t)i; at != 0; at = tree->nodes[at].parent)
      path[depth++] = at;
    while (depth > 0) {
      folded_name(out, tree->names[tree->nodes[path[--depth]].name]);
      sp_buffer_append(out, depth > 0 ? ";" : " ", 1);
    }
    sp_buffer_number(out, tree->nodes[i].self[0]);
    sp_buffer_append(out, "\n", 1);
  }
  sp_mem_free(tree->mem, path);
  return st ? st : sp_buffer_status(out);
}
