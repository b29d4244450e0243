#include "adhoc_json.h"

#include <jansson.h>
#include <string.h>

#include "adhoc_cpuprofile.h"
#include "server/query/selector/matcher_list.h"

/* What a parser takes for a number or a text, and for a list or an object
 * without what is in it; and may take for a whole profile. */
#define ADHOC_VALUE_BYTES  ((size_t)48)
#define ADHOC_OBJECT_BYTES ((size_t)208)
#define ADHOC_BYTES_MAX    ((size_t)32 << 20)

typedef struct adhoc_reading {
  sp_adhoc_profile *out;
  sp_arena *arena;
  sp_name_tree *tree;
  uint32_t side;
  sp_query_fault *fault;
} adhoc_reading;

static spanprof_status adhoc_json_refuse(adhoc_reading *reading,
                                         const char *what) {
  return sp_query_refuse(reading->fault, SP_CODE_INVALID,
                         "failed to parse profile: %s", what);
}

static const char *adhoc_copy(adhoc_reading *reading, const json_t *value,
                              const char *otherwise) {
  const char *text = json_string_value(value);

  if (!text)
    text = otherwise;
  return sp_arena_text(reading->arena, text, strlen(text));
}

/* Numbers in the tree of a list of names, or of objects with a `name`. */
static spanprof_status adhoc_names(adhoc_reading *reading, const json_t *list,
                                   uint32_t **out) {
  const size_t count = json_array_size(list);
  uint32_t *names = sp_arena_new(reading->arena, count + 1, sizeof *names);
  size_t i;

  if (!names)
    return reading->arena->st;
  for (i = 0; i < count; i++) {
    const json_t *item = json_array_get(list, i);
    const char *name = adhoc_copy(
        reading, json_is_object(item) ? json_object_get(item, "name") : item,
        "");

    if (!name)
      return reading->arena->st;
    names[i] = sp_name_tree_name(reading->tree, name);
    if (names[i] == SP_INDEX_NONE)
      return SPANPROF_ERR_NOMEM;
  }
  *out = names;
  return SPANPROF_OK;
}

/* A value, whose digits behind the point are dropped; the nearest that fits. */
static int64_t adhoc_whole(double value) {
  return value >= 0x1p63    ? INT64_MAX
         : value <= -0x1p63 ? INT64_MIN
                            : (int64_t)value;
}

static spanprof_status adhoc_add(adhoc_reading *reading, uint32_t node,
                                 int64_t value) {
  int64_t *self;

  if (node == SP_INDEX_NONE)
    return SPANPROF_ERR_NOMEM;
  self = &reading->tree->nodes[node].self[reading->side];
  *self = sp_sum(*self, value);
  return SPANPROF_OK;
}

/* A node of the row before: where its children may stand. */
typedef struct adhoc_box {
  int64_t start;
  int64_t end;
  uint32_t node;
} adhoc_box;

/* One row of four numbers a node; its boxes are left in `row`. */
static spanprof_status bearer_row(adhoc_reading *reading, const json_t *level,
                                  const uint32_t *names, size_t name_count,
                                  const adhoc_box *above, size_t above_count,
                                  adhoc_box *row) {
  const size_t count = json_array_size(level) / 4;
  int64_t x = 0;
  size_t i, at = 0;
  spanprof_status st = SPANPROF_OK;

  for (i = 0; !st && i < count; i++) {
    const int64_t gap = json_integer_value(json_array_get(level, i * 4));
    const int64_t total = json_integer_value(json_array_get(level, i * 4 + 1));
    const int64_t self = json_integer_value(json_array_get(level, i * 4 + 2));
    const json_int_t name =
        json_integer_value(json_array_get(level, i * 4 + 3));
    uint32_t node = 0;

    if (gap < 0 || total < 0 || name < 0 || (uint64_t)name >= name_count)
      return adhoc_json_refuse(reading, "a flame graph's level is broken");
    x = sp_sum(x, gap);
    while (at + 1 < above_count && x >= above[at].end)
      at++;
    if (above_count > 0)
      node = sp_name_tree_child(reading->tree, above[at].node, names[name]);
    st = adhoc_add(reading, node, self);
    row[i] = (adhoc_box){.start = x, .end = sp_sum(x, total), .node = node};
    x = row[i].end;
  }
  return st;
}

static spanprof_status adhoc_bearer(adhoc_reading *reading,
                                    const json_t *bearer,
                                    const json_t *metadata) {
  const json_t *levels = json_object_get(bearer, "levels"), *level;
  const json_t *list = json_object_get(bearer, "names");
  const adhoc_box *above = NULL;
  const char *format = json_string_value(json_object_get(metadata, "format"));
  size_t i, above_count = 0;
  uint32_t *names;
  spanprof_status st;

  if (format && strcmp(format, "single") != 0)
    return adhoc_json_refuse(reading, "only flame graphs of the format "
                                      "\"single\" can be shown");
  st = adhoc_names(reading, list, &names);
  json_array_foreach(levels, i, level) {
    const size_t count = json_array_size(level) / 4;
    adhoc_box *row = sp_arena_new(reading->arena, count + 1, sizeof *row);

    if (!st && !row)
      st = reading->arena->st;
    if (!st)
      st = bearer_row(reading, level, names, json_array_size(list), above,
                      above_count, row);
    if (st)
      return st;
    above = row;
    above_count = count;
  }
  return st;
}

/* "sampled": stacks and their weights. */
static spanprof_status speedscope_sampled(adhoc_reading *reading,
                                          const json_t *profile,
                                          const uint32_t *names,
                                          size_t name_count) {
  const json_t *weights = json_object_get(profile, "weights"), *stack;
  size_t i, j;
  spanprof_status st = SPANPROF_OK;

  json_array_foreach(json_object_get(profile, "samples"), i, stack) {
    uint32_t node = 0;

    for (j = 0; j < json_array_size(stack) && node != SP_INDEX_NONE; j++) {
      const json_int_t frame = json_integer_value(json_array_get(stack, j));

      if (frame < 0 || (uint64_t)frame >= name_count)
        return adhoc_json_refuse(reading, "a sample names no frame");
      node = sp_name_tree_child(reading->tree, node, names[frame]);
    }
    st = adhoc_add(reading, node,
                   adhoc_whole(json_number_value(json_array_get(weights, i))));
    if (st)
      return st;
  }
  return st;
}

/* "evented": frames that open and close at times. */
static spanprof_status speedscope_evented(adhoc_reading *reading,
                                          const json_t *profile,
                                          const uint32_t *names,
                                          size_t name_count) {
  const json_t *event;
  double last = json_number_value(json_object_get(profile, "startValue"));
  uint32_t node = 0;
  size_t i;
  spanprof_status st;

  json_array_foreach(json_object_get(profile, "events"), i, event) {
    const char *kind = json_string_value(json_object_get(event, "type"));
    const json_int_t frame =
        json_integer_value(json_object_get(event, "frame"));
    const double at = json_number_value(json_object_get(event, "at"));

    if (!kind || frame < 0 || (uint64_t)frame >= name_count || at < last ||
        (*kind == 'C' && node == 0))
      return adhoc_json_refuse(reading, "its events are not in order");
    st = node ? adhoc_add(reading, node, adhoc_whole(at - last)) : SPANPROF_OK;
    if (st)
      return st;
    last = at;
    node = *kind == 'C' ? reading->tree->nodes[node].parent
                        : sp_name_tree_child(reading->tree, node, names[frame]);
    if (node == SP_INDEX_NONE)
      return SPANPROF_ERR_NOMEM;
  }
  return SPANPROF_OK;
}

/* Each of its profiles is a type of its own here. */
static spanprof_status adhoc_speedscope(adhoc_reading *reading,
                                        const json_t *root, const char *type) {
  const json_t *profiles = json_object_get(root, "profiles"), *profile;
  const json_t *frames =
      json_object_get(json_object_get(root, "shared"), "frames");
  const size_t count = json_array_size(profiles);
  sp_adhoc_profile *out = reading->out;
  const char *kind;
  uint32_t *names;
  size_t i;
  spanprof_status st;

  if (count == 0)
    return adhoc_json_refuse(reading, "it has no profiles");
  out->types = sp_arena_new(reading->arena, count, sizeof *out->types);
  if (!out->types)
    return reading->arena->st;
  out->type_count = count;
  for (i = 0; i < count; i++) {
    out->types[i] = adhoc_copy(
        reading, json_object_get(json_array_get(profiles, i), "name"), "");
    if (!out->types[i])
      return reading->arena->st;
    if (type && strcmp(type, out->types[i]) == 0)
      out->type = i;
  }
  profile = json_array_get(profiles, out->type);
  out->bearer.name = out->types[out->type];
  out->bearer.units = adhoc_copy(reading, json_object_get(profile, "unit"), "");
  st = out->bearer.units ? adhoc_names(reading, frames, &names)
                         : reading->arena->st;
  if (st)
    return st;
  kind = json_string_value(json_object_get(profile, "type"));
  if (kind && strcmp(kind, "evented") == 0)
    return speedscope_evented(reading, profile, names, json_array_size(frames));
  return speedscope_sampled(reading, profile, names, json_array_size(frames));
}

/* What its metadata says of a flamebearer. */
static spanprof_status bearer_describe(adhoc_reading *reading,
                                       const json_t *metadata) {
  sp_adhoc_profile *out = reading->out;
  const json_int_t rate =
      json_integer_value(json_object_get(metadata, "sampleRate"));

  out->types = sp_arena_new(reading->arena, 1, sizeof *out->types);
  out->bearer.name = adhoc_copy(reading, json_object_get(metadata, "name"), "");
  out->bearer.units =
      adhoc_copy(reading, json_object_get(metadata, "units"), "");
  out->bearer.spy =
      adhoc_copy(reading, json_object_get(metadata, "spyName"), "");
  out->bearer.sample_rate = rate;
  if (!out->types || !out->bearer.name || !out->bearer.units ||
      !out->bearer.spy)
    return reading->arena->st;
  out->types[0] = out->bearer.name;
  out->type_count = 1;
  return SPANPROF_OK;
}

static bool adhoc_json_bounded(const char *text, size_t size) {
  size_t i, bytes = 0;

  for (i = 0; i < size; i++) {
    const bool opens = text[i] == '[' || text[i] == '{';

    if (opens || text[i] == ',')
      bytes += ADHOC_VALUE_BYTES;
    if (opens)
      bytes += ADHOC_OBJECT_BYTES;
  }
  return bytes <= ADHOC_BYTES_MAX;
}

spanprof_status sp_adhoc_json_read(sp_adhoc_profile *out, sp_arena *arena,
                                   const char *text, size_t size,
                                   const char *type, sp_name_tree *tree,
                                   uint32_t side, sp_query_fault *fault) {
  adhoc_reading reading = {
      .out = out, .arena = arena, .tree = tree, .side = side, .fault = fault};
  const json_t *bearer, *metadata;
  json_t *root = NULL;
  json_error_t error;
  spanprof_status st;

  if (adhoc_json_bounded(text, size))
    root = json_loadb(text, size, 0, &error);
  if (!root)
    return adhoc_json_refuse(&reading, "it is no JSON, or too much of it");
  out->bearer = (sp_flamebearer){.name = "",
                                 .units = "",
                                 .spy = "",
                                 .sample_rate = 100,
                                 .groups_empty = true};
  bearer = json_object_get(root, "flamebearer");
  metadata = json_object_get(root, "metadata");
  if (bearer) {
    st = bearer_describe(&reading, metadata);
    if (!st)
      st = adhoc_bearer(&reading, bearer, metadata);
  } else if (json_object_get(root, "$schema") ||
             json_object_get(root, "profiles")) {
    st = adhoc_speedscope(&reading, root, type);
  } else if (sp_adhoc_cpuprofile_is(root)) {
    st = sp_adhoc_cpuprofile_read(out, arena, root, tree, side, fault);
  } else {
    st = adhoc_json_refuse(&reading, "it is JSON, but neither flamebearer, "
                                     "speedscope nor a .cpuprofile");
  }
  json_decref(root);
  return st;
}
