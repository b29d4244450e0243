/* Format: https://www.speedscope.app/file-format-schema.json */
#include <math.h>

#include "foreign_json.h"
#include "util/system/status.h"

typedef struct scope_reading {
  sp_foreign *foreign;
  uint32_t *functions; /* of the file's frames */
  size_t function_count;
  uint32_t *nodes; /* in an evented profile: the stack at each depth */
  uint32_t *open;  /* and the frame that is open there */
  uint32_t type;
  uint32_t thread;
  double scale; /* each weight is multiplied by it */
} scope_reading;

static bool scope_is(const sp_json_node *root) {
  return sp_json_member(root, "profiles")->kind == SP_JSON_LIST &&
         sp_json_member(sp_json_member(root, "shared"), "frames")->kind ==
             SP_JSON_LIST;
}

static spanprof_status scope_functions(scope_reading *reading,
                                       const sp_json_node *frames) {
  const size_t count = sp_json_count(frames);
  spanprof_status st = SPANPROF_OK;
  size_t i;

  reading->functions =
      sp_arena_new(reading->foreign->arena, count, sizeof(uint32_t));
  reading->nodes = sp_arena_new(reading->foreign->arena,
                                SP_FOREIGN_DEPTH_MAX + 1, sizeof(uint32_t));
  reading->open = sp_arena_new(reading->foreign->arena,
                               SP_FOREIGN_DEPTH_MAX + 1, sizeof(uint32_t));
  if (!reading->functions || !reading->nodes || !reading->open)
    return reading->foreign->arena->st;
  reading->function_count = count;
  for (i = 0; !st && i < count; i++) {
    const sp_json_node *frame = sp_json_item(frames, i);
    const sp_json_node *name = sp_json_member(frame, "name");

    st = sp_foreign_function(
        reading->foreign,
        name->kind == SP_JSON_TEXT ? sp_json_view(name) : sp_view_text("?"),
        sp_json_view(sp_json_member(frame, "file")),
        sp_json_index(sp_json_member(frame, "line")) % UINT32_MAX,
        &reading->functions[i]);
  }
  return st;
}

/* Add the frame `number` to the stack *node. */
static spanprof_status scope_call(const scope_reading *reading, uint32_t number,
                                  uint32_t *node) {
  return number < reading->function_count
             ? sp_foreign_call(reading->foreign, node,
                               reading->functions[number])
             : sp_foreign_malformed("number of a frame");
}

static spanprof_status scope_add(const scope_reading *reading, uint32_t node,
                                 double weight) {
  return weight < 0
             ? sp_fail(SPANPROF_ERR_FORMAT, "has a negative weight")
             : sp_foreign_add(reading->foreign, node, reading->type,
                              reading->thread, weight * reading->scale, 1);
}

static spanprof_status scope_sampled(const scope_reading *reading,
                                     const sp_json_node *profile) {
  const sp_json_node *samples = sp_json_member(profile, "samples");
  const sp_json_node *weights = sp_json_member(profile, "weights");
  spanprof_status st = SPANPROF_OK;
  size_t i, k;

  if (samples->kind != SP_JSON_LIST || weights->kind != SP_JSON_LIST ||
      samples->count != weights->count)
    return sp_foreign_malformed("list of samples and weights");
  for (i = 0; !st && i < samples->count; i++) {
    const sp_json_node *stack = sp_json_item(samples, i);
    const double weight = sp_json_number(sp_json_item(weights, i), NAN);
    uint32_t node = 0;

    if (stack->kind != SP_JSON_LIST || isnan(weight))
      return sp_foreign_malformed("sample");
    for (k = 0; !st && k < stack->count; k++)
      st = scope_call(reading, sp_json_index(sp_json_item(stack, k)), &node);
    if (!st)
      st = scope_add(reading, node, weight);
  }
  return st;
}

/* Open or close a frame. *depth is the number of open frames. */
static spanprof_status scope_event(const scope_reading *reading,
                                   const sp_json_node *event, size_t *depth) {
  const uint32_t frame = sp_json_index(sp_json_member(event, "frame"));

  if (!sp_view_is(sp_json_view(sp_json_member(event, "type")), "O")) {
    if (*depth == 0 || reading->open[*depth] != frame)
      return sp_fail(SPANPROF_ERR_FORMAT, "closes a frame that is not open");
    --*depth;
    return SPANPROF_OK;
  }
  /* The next call is refused if there are SP_FOREIGN_DEPTH_MAX frames. */
  if (*depth < SP_FOREIGN_DEPTH_MAX) {
    reading->nodes[*depth + 1] = reading->nodes[*depth];
    reading->open[*depth + 1] = frame;
    ++*depth;
  }
  return scope_call(reading, frame, &reading->nodes[*depth]);
}

/* The time between two events belongs to the frames that are open. */
static spanprof_status scope_evented(const scope_reading *reading,
                                     const sp_json_node *profile) {
  const sp_json_node *events = sp_json_member(profile, "events");
  double before = sp_json_number(sp_json_member(profile, "startValue"), 0);
  spanprof_status st = SPANPROF_OK;
  size_t i, depth = 0;

  if (events->kind != SP_JSON_LIST)
    return sp_foreign_malformed("list of events");
  reading->nodes[0] = 0;
  for (i = 0; !st && i < events->count; i++) {
    const sp_json_node *event = sp_json_item(events, i);
    const double now = sp_json_number(sp_json_member(event, "at"), NAN);

    if (isnan(now))
      return sp_foreign_malformed("time of an event");
    if (now > before && depth > 0)
      st = scope_add(reading, reading->nodes[depth], now - before);
    before = fmax(before, now);
    if (!st)
      st = scope_event(reading, event, &depth);
  }
  return st;
}

static spanprof_status scope_profile(scope_reading *reading,
                                     const sp_json_node *profile) {
  const sp_view unit = sp_json_view(sp_json_member(profile, "unit"));
  const double ns = sp_foreign_unit_ns(unit);
  const bool bytes = sp_view_is(unit, "bytes");
  spanprof_status st = sp_foreign_type(reading->foreign,
                                       sp_view_text(ns > 0  ? "time"
                                                    : bytes ? "bytes"
                                                            : "samples"),
                                       ns > 0  ? "nanoseconds"
                                       : bytes ? "bytes"
                                               : "count",
                                       &reading->type);

  reading->scale = ns > 0 ? ns : 1;
  if (!st)
    st = sp_foreign_thread(reading->foreign,
                           sp_json_view(sp_json_member(profile, "name")),
                           &reading->thread);
  if (st)
    return st;
  return sp_view_is(sp_json_view(sp_json_member(profile, "type")), "evented")
             ? scope_evented(reading, profile)
             : scope_sampled(reading, profile);
}

static spanprof_status scope_read(sp_foreign *foreign,
                                  const sp_json_node *root) {
  const sp_json_node *profiles = sp_json_member(root, "profiles");
  scope_reading reading = {.foreign = foreign};
  spanprof_status st = scope_functions(
      &reading, sp_json_member(sp_json_member(root, "shared"), "frames"));
  size_t i;

  for (i = 0; !st && i < profiles->count; i++)
    st = scope_profile(&reading, sp_json_item(profiles, i));
  return st;
}

const sp_foreign_format sp_foreign_speedscope = {"speedscope", scope_is,
                                                 scope_read};
