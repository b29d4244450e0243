#include "adhoc_json.h"

#include <jansson.h>
#include <string.h>

#include "server/model/sum.h"
#include "server/query/selector/matcher_list.h"
#include "server/receive/ingest/speedscope.h"

/* The memory that the JSON parser needs for a number or a text, and for an
 * empty list or object, and the limit of its memory for a whole file. */
#define ADHOC_VALUE_BYTES  ((size_t)48)
#define ADHOC_OBJECT_BYTES ((size_t)208)
#define ADHOC_BYTES_MAX    ((size_t)32 << 20)

typedef struct adhoc_reading {
  sp_adhoc_profile *out;
  sp_arena *arena;
  sp_function_tree *tree;
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

/* Get the numbers that the functions in a list of names have in the tree. */
static spanprof_status adhoc_names(adhoc_reading *reading, const json_t *list,
                                   uint32_t **out) {
  const size_t count = json_array_size(list);
  uint32_t *names = sp_arena_new(reading->arena, count + 1, sizeof *names);
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (!names)
    return reading->arena->st;
  for (i = 0; !st && i < count; i++) {
    const char *name = json_string_value(json_array_get(list, i));

    name = name ? name : "";
    st = sp_function_tree_name(reading->tree, name, strlen(name), &names[i]);
  }
  *out = names;
  return st;
}

/* Truncate a value to an integer, or to the nearest one that fits 64 bits. */
static int64_t adhoc_whole(double value) {
  return value >= 0x1p63    ? INT64_MAX
         : value <= -0x1p63 ? INT64_MIN
                            : (int64_t)value;
}

static void adhoc_add(adhoc_reading *reading, uint32_t node, int64_t value) {
  sp_increase(sp_function_tree_self(reading->tree, node, reading->side), value);
}

/* A box of a row: its tree node, and the range in which its children lie. */
typedef struct adhoc_box {
  int64_t start;
  int64_t end;
  uint32_t node;
} adhoc_box;

/* Add one row of the flame graph, which has four numbers per box. `above` are
 * the boxes of the row above. `row` gets the boxes of this row. */
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
      return adhoc_json_refuse(reading,
                               "a level of the flame graph is malformed");
    x = sp_sum(x, gap);
    while (at + 1 < above_count && x >= above[at].end)
      at++;
    if (above_count > 0) {
      node = above[at].node;
      st = sp_call_tree_child(&reading->tree->calls, &node, names[name]);
    }
    if (!st)
      adhoc_add(reading, node, self);
    row[i] = (adhoc_box){.start = x, .end = sp_sum(x, total), .node = node};
    x = row[i].end;
  }
  return st;
}

static spanprof_status adhoc_bearer(adhoc_reading *reading,
                                    const json_t *bearer) {
  const json_t *levels = json_object_get(bearer, "levels"), *level;
  const json_t *list = json_object_get(bearer, "names");
  const adhoc_box *above = NULL;
  size_t i, above_count = 0;
  uint32_t *names = NULL;
  spanprof_status st;

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

/* Data for reading the profile number out->type of a speedscope file. */
typedef struct adhoc_scope {
  adhoc_reading *reading;
  double scale; /* factor for each weight */
} adhoc_scope;

static spanprof_status adhoc_scope_stack(void *data, const sp_view *frames,
                                         size_t count, double weight,
                                         bool is_call) {
  const adhoc_scope *scope = data;
  adhoc_reading *reading = scope->reading;
  spanprof_status st = SPANPROF_OK;
  uint32_t node = 0;
  size_t i;

  (void)is_call;
  for (i = 0; !st && i < count; i++)
    st = sp_function_tree_child(reading->tree, &node, frames[i].bytes,
                                frames[i].size);
  if (!st)
    adhoc_add(reading, node, adhoc_whole(weight * scope->scale));
  return st;
}

static spanprof_status adhoc_scope_read(adhoc_reading *reading,
                                        const json_t *root) {
  sp_adhoc_profile *out = reading->out;
  const int64_t unit_ns = sp_speedscope_unit_ns(root, out->type);
  adhoc_scope scope = {.reading = reading,
                       .scale = unit_ns ? (double)unit_ns : 1};
  sp_refusal refusal;
  spanprof_status st;

  if (unit_ns)
    sp_flamebearer_units(out->types[out->type], "nanoseconds", &out->bearer);
  sp_refusal_init(&refusal, reading->arena->mem);
  st = sp_speedscope_each(root, out->type, reading->arena->mem,
                          adhoc_scope_stack, &scope, &refusal);
  if (refusal.kind)
    st = adhoc_json_refuse(reading, sp_refusal_text(&refusal));
  sp_refusal_dispose(&refusal);
  return st;
}

/* Each profile of the file becomes a type. */
static spanprof_status adhoc_speedscope(adhoc_reading *reading,
                                        const json_t *root, const char *type) {
  const json_t *profiles = json_object_get(root, "profiles");
  const size_t count = sp_speedscope_count(root);
  sp_adhoc_profile *out = reading->out;
  size_t i;

  if (count == 0)
    return adhoc_json_refuse(reading, "the speedscope file has no profiles");
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
  out->bearer.name = out->types[out->type];
  out->bearer.units = adhoc_copy(
      reading, json_object_get(json_array_get(profiles, out->type), "unit"),
      "");
  return out->bearer.units ? adhoc_scope_read(reading, root)
                           : reading->arena->st;
}

/* Get name, units, sample rate and spy of a flamebearer from its metadata. */
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

/* Read the document if it is speedscope, or a flamebearer but not a
 * comparison. */
static spanprof_status adhoc_document(adhoc_reading *reading,
                                      const json_t *root, const char *type,
                                      bool *is_known) {
  const json_t *bearer = json_object_get(root, "flamebearer");
  const json_t *metadata = json_object_get(root, "metadata");
  const char *format = json_string_value(json_object_get(metadata, "format"));
  const bool is_single = !format || strcmp(format, "single") == 0;
  spanprof_status st;

  *is_known = true;
  reading->out->bearer = (sp_flamebearer){.name = "",
                                          .units = "",
                                          .spy = "",
                                          .sample_rate = 100,
                                          .groups_empty = true};
  if (bearer && is_single) {
    st = bearer_describe(reading, metadata);
    return st ? st : adhoc_bearer(reading, bearer);
  }
  if (json_object_get(root, "$schema") || json_object_get(root, "profiles"))
    return adhoc_speedscope(reading, root, type);
  *is_known = false;
  return SPANPROF_OK;
}

spanprof_status sp_adhoc_json_read(sp_adhoc_profile *out, sp_arena *arena,
                                   const char *text, size_t size,
                                   const char *type, sp_function_tree *tree,
                                   uint32_t side, bool *is_known,
                                   sp_query_fault *fault) {
  adhoc_reading reading = {
      .out = out, .arena = arena, .tree = tree, .side = side, .fault = fault};
  json_t *root;
  json_error_t error;
  spanprof_status st;

  *is_known = false;
  if (!adhoc_json_bounded(text, size)) {
    *is_known = true;
    return adhoc_json_refuse(&reading, "the file is too large");
  }
  root = json_loadb(text, size, 0, &error);
  if (!root)
    return SPANPROF_OK;
  st = adhoc_document(&reading, root, type, is_known);
  json_decref(root);
  return st;
}
