#include "adhoc_cpuprofile.h"

#include <string.h>

#include "server/model/sum.h"
#include "server/query/selector/matcher_list.h"
#include "util/memory/hash_index.h"

#define V8_NS_PER_US 1000

typedef struct v8_node {
  json_int_t id;
  const char *name;
  size_t parent; /* index of the parent; the node's own index if it has none */
  int64_t value; /* nanoseconds, or samples if the file has no times */
} v8_node;

typedef struct v8_reading {
  sp_arena *arena;
  v8_node *nodes;
  size_t count;
  sp_index index; /* finds a node by its id */
  sp_query_fault *fault;
} v8_reading;

bool sp_adhoc_cpuprofile_is(const json_t *root) {
  const json_t *first = json_array_get(json_object_get(root, "nodes"), 0);

  return json_is_integer(json_object_get(first, "id")) &&
         json_is_object(json_object_get(first, "callFrame"));
}

static spanprof_status v8_refuse(v8_reading *reading, const char *what) {
  return sp_query_refuse(reading->fault, SP_CODE_INVALID,
                         "failed to parse profile: %s", what);
}

static uint64_t v8_hash(json_int_t id) {
  return sp_hash_mix(SP_HASH_SEED, (uint64_t)id);
}

/* Returns the index of the node with this id, or reading->count if there is
 * none. */
static size_t v8_find(const v8_reading *reading, json_int_t id) {
  uint32_t at, i = sp_index_first(&reading->index, v8_hash(id), &at);

  for (; i != SP_INDEX_NONE;
       i = sp_index_next(&reading->index, v8_hash(id), &at))
    if (reading->nodes[i].id == id)
      return i;
  return reading->count;
}

static spanprof_status v8_nodes(v8_reading *reading, const json_t *nodes) {
  const json_t *node, *child;
  size_t i, j, parent;

  reading->nodes = sp_arena_new(reading->arena, json_array_size(nodes),
                                sizeof *reading->nodes);
  if (!reading->nodes)
    return reading->arena->st;
  json_array_foreach(nodes, i, node) {
    const char *name = json_string_value(
        json_object_get(json_object_get(node, "callFrame"), "functionName"));

    reading->nodes[i] =
        (v8_node){.id = json_integer_value(json_object_get(node, "id")),
                  .name = name && *name ? name : "(anonymous)",
                  .parent = i};
    if (sp_index_reserve(&reading->index, reading->arena->mem))
      return SPANPROF_ERR_NOMEM;
    sp_index_add(&reading->index, v8_hash(reading->nodes[i].id), (uint32_t)i);
    reading->count++;
  }
  json_array_foreach(nodes, i, node) {
    json_array_foreach(json_object_get(node, "children"), j, child) {
      const size_t at = v8_find(reading, json_integer_value(child));

      if (at < reading->count)
        reading->nodes[at].parent = i;
    }
    if (json_is_integer(json_object_get(node, "parent"))) {
      parent =
          v8_find(reading, json_integer_value(json_object_get(node, "parent")));
      if (parent < reading->count)
        reading->nodes[i].parent = parent;
    }
  }
  return SPANPROF_OK;
}

static double v8_number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

/* Add the duration of each sample to its node. A sample lasts until the next
 * one. The differences between the times of samples may be negative, because
 * the clocks of threads differ. `latest` never decreases, so no time is counted
 * twice. */
static void v8_times(v8_reading *reading, const json_t *root,
                     const json_t *samples, const json_t *deltas) {
  const size_t count = json_array_size(samples);
  double at = json_number_value(json_array_get(deltas, 0)), latest = at;
  size_t i, node;

  for (i = 0; i < count; i++) {
    at = i + 1 < count
             ? at + json_number_value(json_array_get(deltas, i + 1))
             : v8_number(root, "endTime") - v8_number(root, "startTime");
    node = v8_find(reading, json_integer_value(json_array_get(samples, i)));
    if (node < reading->count && at > latest && at - latest < 0x1p50)
      sp_increase(&reading->nodes[node].value,
                  (int64_t)((at - latest) * V8_NS_PER_US));
    latest = at > latest ? at : latest;
  }
}

static void v8_hits(v8_reading *reading, const json_t *nodes) {
  const json_t *node;
  size_t i;

  json_array_foreach(nodes, i, node) reading->nodes[i].value =
      json_integer_value(json_object_get(node, "hitCount"));
}

/* Add the stack of the node `leaf` to the tree, without the file's root node.
 * `path` is memory for reading->count indexes. */
static spanprof_status v8_add(v8_reading *reading, size_t leaf, size_t *path,
                              sp_function_tree *tree, uint32_t side) {
  size_t at = leaf, depth = 0;
  uint32_t node = 0;
  spanprof_status st;

  for (;; at = reading->nodes[at].parent) {
    if (depth == reading->count)
      return v8_refuse(reading, "the calls of the profile form a cycle");
    path[depth++] = at;
    if (reading->nodes[at].parent == at)
      break;
  }
  while (depth > 0) {
    const char *name = reading->nodes[path[--depth]].name;

    if (strcmp(name, "(root)") == 0)
      continue;
    st = sp_function_tree_child(tree, &node, name, strlen(name));
    if (st)
      return st;
  }
  sp_increase(sp_function_tree_self(tree, node, side),
              reading->nodes[leaf].value);
  return SPANPROF_OK;
}

static spanprof_status v8_types(sp_adhoc_profile *out, sp_arena *arena,
                                bool timed) {
  out->types = sp_arena_new(arena, 1, sizeof *out->types);
  if (!out->types)
    return arena->st;
  out->type_count = 1;
  out->types[0] = timed ? "cpu" : "samples";
  sp_flamebearer_units(out->types[0], timed ? "nanoseconds" : "count",
                       &out->bearer);
  return SPANPROF_OK;
}

spanprof_status sp_adhoc_cpuprofile_read(sp_adhoc_profile *out, sp_arena *arena,
                                         const json_t *root,
                                         sp_function_tree *tree, uint32_t side,
                                         sp_query_fault *fault) {
  v8_reading reading = {.arena = arena, .fault = fault};
  const json_t *nodes = json_object_get(root, "nodes");
  const json_t *samples = json_object_get(root, "samples");
  const json_t *deltas = json_object_get(root, "timeDeltas");
  const bool timed = json_array_size(samples) > 0 && json_is_array(deltas);
  size_t *path = sp_arena_new(arena, json_array_size(nodes), sizeof *path);
  size_t i;
  spanprof_status st = path ? v8_nodes(&reading, nodes) : arena->st;

  if (!st)
    st = v8_types(out, arena, timed);
  if (!st && timed)
    v8_times(&reading, root, samples, deltas);
  else if (!st)
    v8_hits(&reading, nodes);
  for (i = 0; !st && i < reading.count; i++)
    if (reading.nodes[i].value > 0 &&
        strcmp(reading.nodes[i].name, "(idle)") != 0)
      st = v8_add(&reading, i, path, tree, side);
  sp_index_dispose(&reading.index, arena->mem);
  return st;
}
