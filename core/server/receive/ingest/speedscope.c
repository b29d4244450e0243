#include "speedscope.h"

#include <math.h>

#include "server/receive/wire/json_wire.h"

#define SPEEDSCOPE_SCHEMA    "https://www.speedscope.app/file-format-schema.json"
#define SPEEDSCOPE_PRECISION 100 /* stored value for a weight of 1 */
#define SPEEDSCOPE_DEPTH_MAX 1024

/* Stored values are integers, so weights in units other than nanoseconds and
 * bytes are stored as hundredths. */
#define SPEEDSCOPE_TIMES 4 /* the first units are times */
static const struct {
  const char *name;
  int64_t precision; /* stored value for a weight of 1 in this unit */
  int64_t value_ns;
} speedscope_units[] = {
    {"nanoseconds", 1, 1},
    {"microseconds", SPEEDSCOPE_PRECISION, 10},
    {"milliseconds", SPEEDSCOPE_PRECISION, 10000},
    {"seconds", SPEEDSCOPE_PRECISION, 10000000},
    {"none", SPEEDSCOPE_PRECISION, 100000}, /* counted as samples at 100 Hz */
    {"bytes", 1, 0}};

static spanprof_status speedscope_broken(sp_refusal *refusal,
                                         const char *what) {
  return sp_refuse(refusal, SP_REFUSAL_BROKEN, "%s", what);
}

spanprof_status sp_speedscope_open(json_t **out, const sp_mem *mem,
                                   sp_view text, void **placeholder,
                                   sp_refusal *refusal) {
  spanprof_status st = sp_json_bounded(text, mem, placeholder, refusal);
  json_error_t error;
  const char *schema;

  *out = NULL;
  if (st)
    return st;
  *out = json_loadb(text.bytes ? text.bytes : "", text.size, JSON_ALLOW_NUL,
                    &error);
  if (!*out)
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "the body is not JSON (line %d, column %d): %s",
                     error.line, error.column, error.text);
  schema = json_string_value(json_object_get(*out, "$schema"));
  return schema && strcmp(schema, SPEEDSCOPE_SCHEMA) == 0
             ? SPANPROF_OK
             : sp_refuse(refusal, SP_REFUSAL_BROKEN, "Unknown schema: %s",
                         schema ? schema : "");
}

static const json_t *speedscope_profile(const json_t *root, size_t i) {
  return json_array_get(json_object_get(root, "profiles"), i);
}

size_t sp_speedscope_count(const json_t *root) {
  return json_array_size(json_object_get(root, "profiles"));
}

/* The state while the stacks of one profile are visited. */
typedef struct speedscope_walk {
  const json_t *frames; /* the frames of the file */
  sp_speedscope_visit visit;
  void *data;
  sp_refusal *refusal;
  double last;  /* time of the previous event */
  size_t depth; /* number of frames that have begun and not ended */
  sp_view names[SPEEDSCOPE_DEPTH_MAX];
  double numbers[SPEEDSCOPE_DEPTH_MAX];
} speedscope_walk;

/* Find the name of a frame by its number. */
static spanprof_status speedscope_frame(const speedscope_walk *walk,
                                        const json_t *number, sp_view *out) {
  const double at = json_is_number(number) ? json_number_value(number) : -1;
  const json_t *name;

  if (!(at >= 0 && at < (double)json_array_size(walk->frames)))
    return sp_refuse(walk->refusal, SP_REFUSAL_BROKEN, "Invalid frame %g", at);
  name = json_object_get(json_array_get(walk->frames, (size_t)at), "name");
  *out = json_is_string(name)
             ? sp_view_of(json_string_value(name), json_string_length(name))
             : sp_view_of("", 0);
  return SPANPROF_OK;
}

static spanprof_status speedscope_sampled(speedscope_walk *walk,
                                          const json_t *profile) {
  const json_t *samples = json_object_get(profile, "samples");
  const json_t *weights = json_object_get(profile, "weights");
  spanprof_status st = SPANPROF_OK;
  size_t i, k;

  if (json_array_size(samples) != json_array_size(weights))
    return sp_refuse(walk->refusal, SP_REFUSAL_BROKEN,
                     "Unequal lengths of samples and weights: %zu != %zu",
                     json_array_size(samples), json_array_size(weights));
  for (i = 0; !st && i < json_array_size(samples); i++) {
    const json_t *sample = json_array_get(samples, i);
    const double weight = json_number_value(json_array_get(weights, i));
    const size_t count =
        sp_min_u64(json_array_size(sample), SPEEDSCOPE_DEPTH_MAX);

    if (weight < 0)
      return sp_refuse(walk->refusal, SP_REFUSAL_BROKEN, "Negative weight %f",
                       weight);
    for (k = 0; !st && k < count; k++)
      st = speedscope_frame(walk, json_array_get(sample, k), &walk->names[k]);
    if (!st)
      st = walk->visit(walk->data, walk->names, count, weight, false);
  }
  return st;
}

static spanprof_status speedscope_event(speedscope_walk *walk,
                                        const json_t *event) {
  const char *type = json_string_value(json_object_get(event, "type"));
  const json_t *number = json_object_get(event, "frame");
  const double at = json_number_value(json_object_get(event, "at"));
  const double passed = at - walk->last;
  spanprof_status st = SPANPROF_OK;
  sp_view name;

  if (passed < 0)
    return speedscope_broken(walk->refusal, "Events out of order");
  st = speedscope_frame(walk, number, &name);
  if (st)
    return st;
  walk->last = at;
  if (type && strcmp(type, "C") == 0) {
    if (!walk->depth)
      return speedscope_broken(walk->refusal, "No stack to close");
    if (walk->numbers[walk->depth - 1] != json_number_value(number))
      return speedscope_broken(walk->refusal,
                               "Closing a frame that is not open");
    return walk->visit(walk->data, walk->names, walk->depth--, passed, false);
  }
  if (!type || strcmp(type, "O") != 0)
    return speedscope_broken(walk->refusal, "Unknown event type");
  if (walk->depth == SPEEDSCOPE_DEPTH_MAX)
    return speedscope_broken(walk->refusal, "The stack is too deep");
  if (walk->depth)
    st = walk->visit(walk->data, walk->names, walk->depth, passed, true);
  walk->numbers[walk->depth] = json_number_value(number);
  walk->names[walk->depth++] = name;
  return st;
}

static spanprof_status speedscope_evented(speedscope_walk *walk,
                                          const json_t *profile) {
  const json_t *events = json_object_get(profile, "events");
  spanprof_status st = SPANPROF_OK;
  size_t i;

  walk->last = json_number_value(json_object_get(profile, "startValue"));
  for (i = 0; !st && i < json_array_size(events); i++)
    st = speedscope_event(walk, json_array_get(events, i));
  return st;
}

spanprof_status sp_speedscope_each(const json_t *root, size_t i,
                                   const sp_mem *mem, sp_speedscope_visit visit,
                                   void *data, sp_refusal *refusal) {
  const json_t *profile = speedscope_profile(root, i);
  const char *type = json_string_value(json_object_get(profile, "type"));
  speedscope_walk *walk = sp_mem_zero(mem, sizeof *walk);
  spanprof_status st;

  if (!walk)
    return SPANPROF_ERR_NOMEM;
  walk->frames = json_object_get(json_object_get(root, "shared"), "frames");
  walk->visit = visit;
  walk->data = data;
  walk->refusal = refusal;
  if (type && strcmp(type, "sampled") == 0)
    st = speedscope_sampled(walk, profile);
  else if (type && strcmp(type, "evented") == 0)
    st = speedscope_evented(walk, profile);
  else
    st = sp_refuse(refusal, SP_REFUSAL_BROKEN, "Profile type %s not supported",
                   type ? type : "");
  sp_mem_free(mem, walk);
  return st;
}

/* The list to which speedscope_stack() adds stacks. */
typedef struct speedscope_stacks {
  sp_stack_list *list;
  int64_t precision;
} speedscope_stacks;

/* Add a stack with its weight in hundredths of a unit, or in whole bytes. As in
 * Pyroscope, the weight of the time before a call is not multiplied by a
 * hundred, so that it counts only a hundredth. */
static spanprof_status speedscope_stack(void *data, const sp_view *frames,
                                        size_t count, double weight,
                                        bool is_call) {
  const speedscope_stacks *stacks = data;
  const double precision = is_call ? 1 : (double)stacks->precision;
  const double value = floor(weight * precision + 1e-6);

  return sp_stack_list_add(stacks->list, frames, count,
                           value > 0 && value < 9e18 ? (uint64_t)value : 0);
}

static size_t speedscope_unit(const json_t *profile, const char **name) {
  size_t i;

  *name = json_string_value(json_object_get(profile, "unit"));
  for (i = 0; i < SP_COUNT_OF(speedscope_units) && *name; i++)
    if (strcmp(speedscope_units[i].name, *name) == 0)
      return i;
  return SP_COUNT_OF(speedscope_units);
}

int64_t sp_speedscope_unit_ns(const json_t *root, size_t i) {
  const char *name;
  const size_t k = speedscope_unit(speedscope_profile(root, i), &name);

  return k < SPEEDSCOPE_TIMES
             ? speedscope_units[k].precision * speedscope_units[k].value_ns
             : 0;
}

spanprof_status sp_speedscope_read(const json_t *root, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list) {
  const json_t *profile = speedscope_profile(root, i);
  const json_t *name = json_object_get(profile, "name");
  speedscope_stacks stacks = {.list = list};
  const char *unit;
  const size_t k = speedscope_unit(profile, &unit);

  if (k == SP_COUNT_OF(speedscope_units))
    return sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                     "invalid profile unit: unknown unit: %s",
                     unit ? unit : "");
  out->unit = speedscope_units[k].name;
  out->value_ns = speedscope_units[k].value_ns;
  out->name = sp_view_of(json_is_string(name) ? json_string_value(name) : "",
                         json_string_length(name));
  stacks.precision = speedscope_units[k].precision;
  return sp_speedscope_each(root, i, list->arena->mem, speedscope_stack,
                            &stacks, list->refusal);
}
