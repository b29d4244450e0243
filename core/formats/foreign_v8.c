#include "foreign_v8.h"

#include <math.h>

#include "foreign_json.h"

#define V8_NS_PER_US 1000

typedef struct v8_node {
  double id;
  const sp_json_node *frame;
  uint32_t parent; /* index; the node's own index if it has none */
  uint32_t stack;  /* plus 1; 0: not known yet */
  bool is_idle;
} v8_node;

typedef struct v8_reading {
  sp_foreign *foreign;
  const sp_v8_profile *profile;
  v8_node *nodes;
  uint32_t count;
  sp_index index; /* finds a node by its id */
  uint32_t type;
} v8_reading;

static bool v8_is_cpu(const sp_json_node *root) {
  const sp_json_node *first = sp_json_item(sp_json_member(root, "nodes"), 0);

  return sp_json_member(first, "id")->kind == SP_JSON_NUMBER &&
         sp_json_member(first, "callFrame")->kind == SP_JSON_OBJECT;
}

static uint64_t v8_hash(double id) {
  return sp_hash_mix(SP_HASH_SEED,
                     (uint64_t)(fabs(id) < 0x1p53 ? (int64_t)id : 0));
}

/* Returns the index of the node with this id, or reading->count if there is
 * none. */
static uint32_t v8_find(const v8_reading *reading, const sp_json_node *number) {
  const double id = sp_json_number(number, NAN);
  uint32_t at, i;

  for (i = sp_index_first(&reading->index, v8_hash(id), &at);
       i != SP_INDEX_NONE; i = sp_index_next(&reading->index, v8_hash(id), &at))
    if (reading->nodes[i].id == id)
      return i;
  return reading->count;
}

static void v8_parents(v8_reading *reading, const sp_json_node *nodes) {
  uint32_t i, found;
  size_t k;

  for (i = 0; i < reading->count; i++) {
    const sp_json_node *node = sp_json_item(nodes, i);
    const sp_json_node *children = sp_json_member(node, "children");

    for (k = 0; k < sp_json_count(children); k++) {
      found = v8_find(reading, sp_json_item(children, k));
      if (found < reading->count)
        reading->nodes[found].parent = i;
    }
    found = v8_find(reading, sp_json_member(node, "parent"));
    if (found < reading->count)
      reading->nodes[i].parent = found;
  }
}

static spanprof_status v8_nodes(v8_reading *reading,
                                const sp_json_node *nodes) {
  const uint32_t count = (uint32_t)sp_json_count(nodes);
  uint32_t i;

  reading->nodes =
      sp_arena_new(reading->foreign->arena, count, sizeof *reading->nodes);
  if (!reading->nodes)
    return reading->foreign->arena->st;
  for (i = 0; i < count; i++) {
    const sp_json_node *node = sp_json_item(nodes, i);
    v8_node *out = &reading->nodes[i];

    *out = (v8_node){.id = sp_json_number(sp_json_member(node, "id"), NAN),
                     .frame = sp_json_member(node, "callFrame"),
                     .parent = i};
    out->is_idle = sp_view_is(
        sp_json_view(sp_json_member(out->frame, "functionName")), "(idle)");
    if (sp_index_reserve(&reading->index, reading->foreign->mem))
      return SPANPROF_ERR_NOMEM;
    sp_index_add(&reading->index, v8_hash(out->id), i);
    reading->count++;
  }
  v8_parents(reading, nodes);
  return SPANPROF_OK;
}

/* Add the call of a function to the stack *node. The root is no function. */
static spanprof_status v8_call(sp_foreign *foreign, const sp_json_node *frame,
                               uint32_t *node) {
  const sp_json_node *line = sp_json_member(frame, "lineNumber");
  sp_view name = sp_json_view(sp_json_member(frame, "functionName"));
  uint32_t function;
  spanprof_status st;

  if (sp_view_is(name, "(root)"))
    return SPANPROF_OK;
  if (name.size == 0)
    name = sp_view_text("(anonymous)");
  /* Lines are counted from 0. Without a line, the number is UINT32_MAX. */
  st = sp_foreign_function(foreign, name,
                           sp_json_view(sp_json_member(frame, "url")),
                           (uint32_t)(sp_json_index(line) + 1), &function);
  return st ? st : sp_foreign_call(foreign, node, function);
}

/* Set *node to the stack of the node `leaf`. */
static spanprof_status v8_stack(v8_reading *reading, uint32_t leaf,
                                uint32_t *node) {
  uint32_t path[SP_FOREIGN_DEPTH_MAX], depth = 0, at = leaf;
  spanprof_status st = SPANPROF_OK;
  bool is_root = false;

  while (!is_root && !reading->nodes[at].stack) {
    if (depth == SP_FOREIGN_DEPTH_MAX)
      return sp_foreign_too_deep();
    path[depth++] = at;
    is_root = reading->nodes[at].parent == at;
    at = reading->nodes[at].parent;
  }
  *node = is_root ? 0 : reading->nodes[at].stack - 1;
  while (!st && depth > 0) {
    at = path[--depth];
    st = v8_call(reading->foreign, reading->nodes[at].frame, node);
    reading->nodes[at].stack = *node + 1;
  }
  return st;
}

static spanprof_status v8_add(v8_reading *reading, uint32_t leaf, double value,
                              uint64_t samples) {
  uint32_t node;
  spanprof_status st;

  if (leaf == reading->count || reading->nodes[leaf].is_idle || !(value > 0))
    return SPANPROF_OK;
  st = v8_stack(reading, leaf, &node);
  return st ? st
            : sp_foreign_add(reading->foreign, node, reading->type,
                             reading->profile->thread, value, samples);
}

static double v8_member(const sp_json_node *object, const char *key) {
  return sp_json_number(sp_json_member(object, key), 0);
}

/* Add the duration of each sample. A sample lasts until the next one. The
 * differences between the times of samples may be negative, because the clocks
 * of threads differ. `latest` never decreases, so no time is counted twice. */
static spanprof_status v8_times(v8_reading *reading) {
  const sp_v8_profile *profile = reading->profile;
  double at = sp_json_number(sp_json_item(profile->deltas, 0), 0), latest = at;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; !st && i < profile->samples->count; i++) {
    at = i + 1 < profile->samples->count
             ? at + sp_json_number(sp_json_item(profile->deltas, i + 1), 0)
             : profile->duration_us;
    st = v8_add(reading, v8_find(reading, sp_json_item(profile->samples, i)),
                (at - latest) * V8_NS_PER_US, 1);
    latest = fmax(at, latest);
  }
  return st;
}

static spanprof_status v8_hits(v8_reading *reading) {
  spanprof_status st = SPANPROF_OK;
  uint32_t i;

  for (i = 0; !st && i < reading->count; i++)
    st = v8_add(reading, i,
                v8_member(sp_json_item(reading->profile->nodes, i), "hitCount"),
                1);
  return st;
}

spanprof_status sp_foreign_v8_add(sp_foreign *foreign,
                                  const sp_v8_profile *profile) {
  v8_reading reading = {.foreign = foreign, .profile = profile};
  const bool timed = sp_json_count(profile->samples) > 0 &&
                     profile->deltas->kind == SP_JSON_LIST;
  spanprof_status st =
      sp_foreign_type(foreign, sp_view_text(timed ? "cpu" : "samples"),
                      timed ? "nanoseconds" : "count", &reading.type);

  if (!st)
    st = v8_nodes(&reading, profile->nodes);
  if (!st)
    st = timed ? v8_times(&reading) : v8_hits(&reading);
  sp_index_dispose(&reading.index, foreign->mem);
  return st;
}

static spanprof_status v8_read_cpu(sp_foreign *foreign,
                                   const sp_json_node *root) {
  const sp_v8_profile profile = {.nodes = sp_json_member(root, "nodes"),
                                 .samples = sp_json_member(root, "samples"),
                                 .deltas = sp_json_member(root, "timeDeltas"),
                                 .duration_us = v8_member(root, "endTime") -
                                                v8_member(root, "startTime")};

  return sp_foreign_v8_add(foreign, &profile);
}

static bool v8_is_heap(const sp_json_node *root) {
  const sp_json_node *head = sp_json_member(root, "head");

  return sp_json_member(head, "callFrame")->kind == SP_JSON_OBJECT &&
         sp_json_member(head, "selfSize")->kind == SP_JSON_NUMBER;
}

/* A node of the tree, whose children are visited. */
typedef struct v8_visit {
  const sp_json_node *children;
  size_t next; /* index of the next child */
  uint32_t stack;
} v8_visit;

/* Add the size of a node, and remember to visit its children. */
static spanprof_status v8_enter(sp_foreign *foreign, uint32_t type,
                                const sp_json_node *node, uint32_t caller,
                                v8_visit *out) {
  uint32_t stack = caller;
  spanprof_status st =
      v8_call(foreign, sp_json_member(node, "callFrame"), &stack);

  *out =
      (v8_visit){.children = sp_json_member(node, "children"), .stack = stack};
  return st ? st
            : sp_foreign_add(foreign, stack, type, 0,
                             v8_member(node, "selfSize"), 1);
}

static spanprof_status v8_read_heap(sp_foreign *foreign,
                                    const sp_json_node *root) {
  v8_visit *visits =
      sp_arena_new(foreign->arena, SP_FOREIGN_DEPTH_MAX, sizeof *visits);
  size_t depth = 1;
  uint32_t type = 0;
  spanprof_status st =
      sp_foreign_type(foreign, sp_view_text("inuse_space"), "bytes", &type);

  if (!visits)
    return foreign->arena->st;
  if (!st)
    st = v8_enter(foreign, type, sp_json_member(root, "head"), 0, &visits[0]);
  while (!st && depth > 0) {
    v8_visit *visit = &visits[depth - 1];

    if (visit->next >= sp_json_count(visit->children))
      depth--;
    else if (depth == SP_FOREIGN_DEPTH_MAX)
      st = sp_foreign_too_deep();
    else
      st = v8_enter(foreign, type, sp_json_item(visit->children, visit->next++),
                    visit->stack, &visits[depth++]);
  }
  return st;
}

const sp_foreign_format sp_foreign_cpuprofile = {".cpuprofile", v8_is_cpu,
                                                 v8_read_cpu};
const sp_foreign_format sp_foreign_heapprofile = {".heapprofile", v8_is_heap,
                                                  v8_read_heap};
