#include "flame_graph.h"

#include <stdlib.h>
#include <string.h>

#include "profile/pprof/varint.h"
#include "server/model/sum.h"

void sp_flame_graph_dispose(sp_flame_graph *graph) {
  if (!graph->mem)
    return;
  sp_mem_free(graph->mem, graph->names);
  sp_mem_free(graph->mem, graph->values);
  sp_mem_free(graph->mem, graph->row_starts);
  *graph = (sp_flame_graph){0};
}

/* A name with its function, because qsort() passes no context to its
 * comparison. */
typedef struct flame_name {
  const char *name;
  uint32_t function;
} flame_name;

static int flame_name_order(const void *a, const void *b) {
  return strcmp(((const flame_name *)a)->name, ((const flame_name *)b)->name);
}

/* Get the rank of each function: the position of its name when all names are
 * sorted by their bytes. With `other_last`, SP_FLAME_OTHER comes last. */
static spanprof_status flame_ranks(const sp_function_tree *tree,
                                   bool other_last, uint32_t *ranks) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->function_count;
  flame_name *names = sp_mem_new(mem, (count + 1) * sizeof *names);
  uint32_t i, rank = 0;

  if (!names)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < count; i++)
    names[i] = (flame_name){.name = tree->functions[i].name, .function = i};
  qsort(names, count, sizeof *names, flame_name_order);
  for (i = 0; i < count; i++) {
    if (other_last && strcmp(names[i].name, SP_FLAME_OTHER) == 0)
      ranks[names[i].function] = (uint32_t)count - 1;
    else
      ranks[names[i].function] = rank++;
  }
  sp_mem_free(mem, names);
  return SPANPROF_OK;
}

/* The children of a node are children[starts[node]] to children[starts[node +
 * 1] - 1]. */
typedef struct flame_children {
  uint32_t *starts;
  uint32_t *children;
} flame_children;

/* Copy `nodes` to `out`, sorted by keys[node]. Nodes with equal keys stay in
 * their order. `starts` has `key_count` + 2 numbers and gets the index in `out`
 * at which each key starts. */
static void flame_sort(const uint32_t *keys, size_t key_count,
                       const uint32_t *nodes, size_t count, uint32_t *out,
                       uint32_t *starts) {
  size_t i;

  memset(starts, 0, (key_count + 2) * sizeof *starts);
  for (i = 0; i < count; i++)
    starts[keys[nodes[i]] + 2]++;
  for (i = 2; i < key_count + 2; i++)
    starts[i] += starts[i - 1];
  for (i = 0; i < count; i++)
    out[starts[keys[nodes[i]] + 1]++] = nodes[i];
}

static void flame_sort_children(const sp_function_tree *tree,
                                const uint32_t *ranks, flame_children *out,
                                uint32_t *keys, uint32_t *nodes,
                                uint32_t *by_name) {
  const size_t count = tree->calls.node_count;
  uint32_t i;

  for (i = 1; i < count; i++) {
    nodes[i - 1] = i;
    keys[i] = ranks[tree->calls.nodes[i].function];
  }
  flame_sort(keys, tree->function_count, nodes, count - 1, by_name,
             out->starts);
  for (i = 1; i < count; i++)
    keys[i] = tree->calls.nodes[i].parent;
  flame_sort(keys, count, by_name, count - 1, out->children, out->starts);
}

static void flame_children_dispose(flame_children *children,
                                   const sp_mem *mem) {
  sp_mem_free(mem, children->starts);
  sp_mem_free(mem, children->children);
}

/* Sort the children of each node by the bytes of their names. With
 * `other_last`, SP_FLAME_OTHER comes last. Dispose of *out also if this
 * fails. */
static spanprof_status flame_order(const sp_function_tree *tree,
                                   bool other_last, flame_children *out) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->calls.node_count;
  const size_t keys_max = sp_max_u64(count, tree->function_count) + 2;
  uint32_t *ranks = sp_mem_new(mem, (tree->function_count + 1) * sizeof *ranks);
  uint32_t *keys = sp_mem_new(mem, count * sizeof *keys);
  uint32_t *nodes = sp_mem_new(mem, count * sizeof *nodes);
  uint32_t *by_name = sp_mem_new(mem, count * sizeof *by_name);
  spanprof_status st = SPANPROF_ERR_NOMEM;

  out->starts = sp_mem_new(mem, keys_max * sizeof *out->starts);
  out->children = sp_mem_new(mem, count * sizeof *out->children);
  if (ranks && keys && nodes && by_name && out->starts && out->children)
    st = flame_ranks(tree, other_last, ranks);
  if (!st)
    flame_sort_children(tree, ranks, out, keys, nodes, by_name);
  sp_mem_free(mem, ranks);
  sp_mem_free(mem, keys);
  sp_mem_free(mem, nodes);
  sp_mem_free(mem, by_name);
  return st;
}

/* Set `order` to the nodes in depth-first order, each node before its children,
 * and the last child first. `order` and `stack` are memory for all nodes. */
static void flame_walk(const flame_children *children, uint32_t *order,
                       uint32_t *stack) {
  size_t depth = 0, count = 0;
  uint32_t i;

  stack[depth++] = 0;
  while (depth > 0) {
    const uint32_t node = stack[--depth];

    order[count++] = node;
    for (i = children->starts[node]; i < children->starts[node + 1]; i++)
      stack[depth++] = children->children[i];
  }
}

/* Number the names of functions in `order`, which is that of flame_walk(). In a
 * graph of one side, a function called "total" has the number of the root's
 * name, 0. numbers[function] gets the number of the function's name. */
static void flame_number_names(sp_flame_graph *graph,
                               const sp_function_tree *tree,
                               const uint32_t *order, uint32_t *numbers) {
  size_t i;

  memset(numbers, 0xff, tree->function_count * sizeof *numbers);
  graph->names[graph->name_count++] = "total";
  for (i = 1; i < tree->calls.node_count; i++) {
    const uint32_t function = tree->calls.nodes[order[i]].function;
    const char *name = tree->functions[function].name;

    if (numbers[function] != SP_INDEX_NONE)
      continue;
    if (graph->width == SP_FLAME_WIDTH && strcmp(name, "total") == 0) {
      numbers[function] = 0;
      continue;
    }
    numbers[function] = (uint32_t)graph->name_count;
    graph->names[graph->name_count++] = name;
  }
}

/* A node of a row, and the position of its box on both sides. */
typedef struct flame_place {
  uint32_t node;
  int64_t x[SP_TREE_SIDES];
} flame_place;

/* Everything from which the rows of a graph are made. */
typedef struct flame_drawing {
  const sp_function_tree *tree;
  flame_children children;
  int64_t *totals;   /* side_count totals for each node */
  uint32_t *order;   /* the nodes as flame_walk() visits them */
  uint32_t *numbers; /* for each function, the number of its name in the
                      * graph */
  flame_place *places;
} flame_drawing;

static int64_t *flame_total(const flame_drawing *drawing, size_t node) {
  return &drawing->totals[node * drawing->tree->side_count];
}

static void flame_sum(const flame_drawing *drawing) {
  const sp_call_tree *calls = &drawing->tree->calls;
  const uint32_t sides = drawing->tree->side_count;
  uint32_t side;
  size_t i;

  memcpy(drawing->totals, calls->values,
         calls->node_count * sides * sizeof *calls->values);
  for (i = calls->node_count - 1; i > 0; i--)
    for (side = 0; side < sides; side++)
      sp_increase(&flame_total(drawing, calls->nodes[i].parent)[side],
                  flame_total(drawing, i)[side]);
}

static void flame_put(sp_flame_graph *graph, const flame_drawing *drawing,
                      const flame_place *place, int64_t *row_end,
                      int64_t *value) {
  const sp_function_tree *tree = drawing->tree;
  uint32_t side;

  for (side = 0; side < tree->side_count; side++) {
    const int64_t total = flame_total(drawing, place->node)[side];
    const int64_t self = *sp_function_tree_self(tree, place->node, side);

    *value++ = place->x[side] - row_end[side];
    *value++ = total;
    *value++ = self;
    row_end[side] = sp_sum(place->x[side], total);
    if (self > graph->max_self)
      graph->max_self = self;
  }
  *value = place->node == 0
               ? 0
               : drawing->numbers[tree->calls.nodes[place->node].function];
}

/* Append the children of a node to drawing->places. *count is the number of
 * places. */
static void flame_put_children(const flame_drawing *drawing,
                               const flame_place *parent, size_t *count) {
  const sp_function_tree *tree = drawing->tree;
  const uint32_t *starts = &drawing->children.starts[parent->node];
  flame_place place = {0};
  uint32_t i, side;

  for (side = 0; side < tree->side_count; side++)
    place.x[side] = sp_sum(parent->x[side],
                           *sp_function_tree_self(tree, parent->node, side));
  for (i = starts[0]; i < starts[1]; i++) {
    place.node = drawing->children.children[i];
    drawing->places[(*count)++] = place;
    for (side = 0; side < tree->side_count; side++)
      sp_increase(&place.x[side], flame_total(drawing, place.node)[side]);
  }
}

/* Make the rows. The next row has the children of all nodes of a row, in
 * order. */
static void flame_rows(sp_flame_graph *graph, const flame_drawing *drawing) {
  size_t begin = 0, end = 1, next, i;

  drawing->places[0] = (flame_place){0};
  for (; begin < end; begin = end, end = next) {
    int64_t row_end[SP_TREE_SIDES] = {0};

    graph->row_starts[graph->row_count++] = begin * graph->width;
    for (i = begin, next = end; i < end; i++) {
      flame_put(graph, drawing, &drawing->places[i], row_end,
                &graph->values[i * graph->width]);
      flame_put_children(drawing, &drawing->places[i], &next);
    }
  }
  graph->row_starts[graph->row_count] = end * graph->width;
}

static void flame_drawing_dispose(flame_drawing *drawing, const sp_mem *mem) {
  flame_children_dispose(&drawing->children, mem);
  sp_mem_free(mem, drawing->totals);
  sp_mem_free(mem, drawing->order);
  sp_mem_free(mem, drawing->numbers);
  sp_mem_free(mem, drawing->places);
}

static spanprof_status flame_drawing_make(flame_drawing *out,
                                          const sp_function_tree *tree) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->calls.node_count;
  spanprof_status st = flame_order(tree, tree->side_count == 1, &out->children);

  out->totals = sp_mem_new(mem, count * tree->side_count * sizeof *out->totals);
  out->order = sp_mem_new(mem, count * sizeof *out->order);
  out->numbers = sp_mem_new(mem, sp_max_u64(count, tree->function_count) *
                                     sizeof *out->numbers);
  out->places = sp_mem_new(mem, count * sizeof *out->places);
  if (!st && !(out->totals && out->order && out->numbers && out->places))
    st = SPANPROF_ERR_NOMEM;
  if (!st) {
    flame_sum(out);
    flame_walk(&out->children, out->order, out->numbers);
  }
  return st;
}

spanprof_status sp_flame_graph_make(sp_flame_graph *out,
                                    const sp_function_tree *tree) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->calls.node_count;
  flame_drawing drawing = {.tree = tree};
  spanprof_status st = flame_drawing_make(&drawing, tree);

  *out = (sp_flame_graph){.mem = mem,
                          .width = tree->side_count == 1 ? SP_FLAME_WIDTH
                                                         : SP_DIFF_WIDTH};
  out->names = sp_mem_new(mem, (tree->function_count + 1) * sizeof *out->names);
  out->values = sp_mem_new(mem, count * out->width * sizeof *out->values);
  out->row_starts = sp_mem_new(mem, (count + 1) * sizeof *out->row_starts);
  if (!st && !(out->names && out->values && out->row_starts))
    st = SPANPROF_ERR_NOMEM;
  if (!st) {
    flame_number_names(out, tree, drawing.order, drawing.numbers);
    flame_rows(out, &drawing);
    memcpy(out->ticks, drawing.totals,
           tree->side_count * sizeof *drawing.totals);
    out->total = sp_sum(out->ticks[0], out->ticks[1]);
  } else {
    sp_flame_graph_dispose(out);
  }
  flame_drawing_dispose(&drawing, mem);
  return st;
}

spanprof_status sp_tree_bytes(sp_buffer *out, const sp_function_tree *tree) {
  const sp_mem *mem = tree->calls.mem;
  const size_t count = tree->calls.node_count;
  uint32_t *order = sp_mem_new(mem, count * sizeof *order);
  uint32_t *stack = sp_mem_new(mem, count * sizeof *stack);
  flame_children children;
  spanprof_status st = flame_order(tree, false, &children);
  size_t i;

  if (!order || !stack)
    st = SPANPROF_ERR_NOMEM;
  if (!st)
    flame_walk(&children, order, stack);
  for (i = 0; !st && !out->failed && i < count; i++) {
    const uint32_t node = order[i];
    const char *name =
        node == 0 ? "" : tree->functions[tree->calls.nodes[node].function].name;

    sp_varint_append(out, strlen(name));
    sp_buffer_append(out, name, strlen(name));
    sp_varint_append(out, (uint64_t)*sp_function_tree_self(tree, node, 0));
    sp_varint_append(out, children.starts[node + 1] - children.starts[node]);
  }
  sp_mem_free(mem, order);
  sp_mem_free(mem, stack);
  flame_children_dispose(&children, mem);
  return st ? st : sp_buffer_status(out);
}

/* Append a name in which the separators of folded stacks are replaced. */
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

spanprof_status sp_tree_folded(sp_buffer *out, const sp_function_tree *tree) {
  const sp_call_tree *calls = &tree->calls;
  uint32_t *path = sp_mem_new(calls->mem, calls->node_count * sizeof *path);
  spanprof_status st = SPANPROF_OK;
  size_t i, depth;
  uint32_t node;

  if (!path)
    return SPANPROF_ERR_NOMEM;
  for (i = 1; !st && i < calls->node_count && !out->failed; i++) {
    const int64_t self = *sp_function_tree_self(tree, i, 0);

    st = sp_cancel_step(tree->cancel);
    if (self == 0)
      continue;
    for (depth = 0, node = (uint32_t)i; node; node = calls->nodes[node].parent)
      path[depth++] = node;
    while (depth > 0) {
      folded_name(out,
                  tree->functions[calls->nodes[path[--depth]].function].name);
      sp_buffer_append(out, depth > 0 ? ";" : " ", 1);
    }
    sp_buffer_number(out, self);
    sp_buffer_append(out, "\n", 1);
  }
  sp_mem_free(calls->mem, path);
  return st ? st : sp_buffer_status(out);
}
