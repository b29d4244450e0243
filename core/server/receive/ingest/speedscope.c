#include "speedscope.h"

#include <jansson.h>
#include <math.h>

#include "server/receive/wire/json_wire.h"

#define SPEEDSCOPE_SCHEMA    "https://www.speedscope.app/file-format-schema.json"
#define SPEEDSCOPE_PRECISION 100 /* parts of a unit that are told apart */
#define SPEEDSCOPE_DEPTH_MAX 1024

struct sp_speedscope {
  const sp_mem *mem;
  void *held; /* for what follows */
  json_t *root;
  json_t *frames;
  json_t *profiles;
};

/* Values are whole: of longer units hundredths are counted. */
static const struct {
  const char *name;
  int64_t precision; /* values of one unit */
  int64_t value_ns;
} speedscope_units[] = {
    {"nanoseconds", 1, 1},
    {"microseconds", SPEEDSCOPE_PRECISION, 10},
    {"milliseconds", SPEEDSCOPE_PRECISION, 10000},
    {"seconds", SPEEDSCOPE_PRECISION, 10000000},
    {"none", SPEEDSCOPE_PRECISION, 100000}, /* samples at 100 Hz */
    {"bytes", 1, 0}};

static spanprof_status speedscope_broken(sp_refusal *refusal,
                                         const char *what) {
  return sp_refuse(refusal, SP_REFUSAL_BROKEN, "%s", what);
}

spanprof_status sp_speedscope_open(sp_speedscope **out, const sp_mem *mem,
                                   sp_view text, sp_refusal *refusal) {
  void *held;
  spanprof_status st = sp_json_bounded(text, mem, &held, refusal);
  sp_speedscope *file;
  json_error_t error;
  const char *schema;

  *out = NULL;
  if (st)
    return st;
  file = sp_mem_zero(mem, sizeof *file);
  if (!file) {
    sp_mem_free(mem, held);
    return SPANPROF_ERR_NOMEM;
  }
  file->mem = mem;
  file->held = held;
  file->root = json_loadb(text.bytes ? text.bytes : "", text.size,
                          JSON_ALLOW_NUL, &error);
  schema = json_string_value(json_object_get(file->root, "$schema"));
  file->frames =
      json_object_get(json_object_get(file->root, "shared"), "frames");
  file->profiles = json_object_get(file->root, "profiles");
  if (!file->root)
    st = sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "the body is no JSON (line %d, column %d): %s", error.line,
                   error.column, error.text);
  else if (!schema || strcmp(schema, SPEEDSCOPE_SCHEMA) != 0)
    st = sp_refuse(refusal, SP_REFUSAL_BROKEN, "Unknown schema: %s",
                   schema ? schema : "");
  if (st)
    sp_speedscope_free(file);
  else
    *out = file;
  return st;
}

void sp_speedscope_free(sp_speedscope *file) {
  if (!file)
    return;
  json_decref(file->root);
  sp_mem_free(file->mem, file->held);
  sp_mem_free(file->mem, file);
}

size_t sp_speedscope_count(const sp_speedscope *file) {
  return json_array_size(file->profiles);
}

/* The name of a frame given by its number. */
static spanprof_status speedscope_frame(const sp_speedscope *file,
                                        const json_t *number, sp_view *out,
                                        sp_refusal *refusal) {
  const double at = json_is_number(number) ? json_number_value(number) : -1;
  const json_t *name;

  if (!(at >= 0 && at < (double)json_array_size(file->frames)))
    return sp_refuse(refusal, SP_REFUSAL_BROKEN, "Invalid frame %g", at);
  name = json_object_get(json_array_get(file->frames, (size_t)at), "name");
  *out = json_is_string(name)
             ? sp_view_of(json_string_value(name), json_string_length(name))
             : sp_view_of("", 0);
  return SPANPROF_OK;
}

/* Whole hundredths of a unit; of bytes whole ones. */
static uint64_t speedscope_value(double weight, int64_t precision) {
  const double value = floor(weight * (double)precision + 1e-6);

  return value > 0 && value < 9e18 ? (uint64_t)value : 0;
}

static spanprof_status speedscope_sampled(const sp_speedscope *file,
                                          const json_t *profile,
                                          int64_t precision,
                                          sp_stack_list *list) {
  const json_t *samples = json_object_get(profile, "samples");
  const json_t *weights = json_object_get(profile, "weights");
  sp_view frames[SPEEDSCOPE_DEPTH_MAX];
  spanprof_status st = SPANPROF_OK;
  size_t i, k;

  if (json_array_size(samples) != json_array_size(weights))
    return sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                     "Unequal lengths of samples and weights: %zu != %zu",
                     json_array_size(samples), json_array_size(weights));
  for (i = 0; !st && i < json_array_size(samples); i++) {
    const json_t *sample = json_array_get(samples, i);
    const double weight = json_number_value(json_array_get(weights, i));
    size_t count = json_array_size(sample);

    if (weight < 0)
      return sp_refuse(list->refusal, SP_REFUSAL_BROKEN, "Negative weight %f",
                       weight);
    if (count > SPEEDSCOPE_DEPTH_MAX)
      count = SPEEDSCOPE_DEPTH_MAX;
    for (k = 0; !st && k < count; k++)
      st = speedscope_frame(file, json_array_get(sample, k), &frames[k],
                            list->refusal);
    if (!st)
      st = sp_stack_list_add(list, frames, count,
                             speedscope_value(weight, precision));
  }
  return st;
}

/* Stacks that are open, while events are read. */
typedef struct speedscope_open {
  sp_view names[SPEEDSCOPE_DEPTH_MAX];
  double frames[SPEEDSCOPE_DEPTH_MAX];
  size_t depth;
  double last; /* time of the event before */
} speedscope_open;

static spanprof_status speedscope_event(const sp_speedscope *file,
                                        const json_t *event, int64_t precision,
                                        speedscope_open *open,
                                        sp_stack_list *list) {
  const char *type = json_string_value(json_object_get(event, "type"));
  const json_t *number = json_object_get(event, "frame");
  const double at = json_number_value(json_object_get(event, "at"));
  const double passed = at - open->last;
  spanprof_status st = SPANPROF_OK;
  sp_view name;

  if (passed < 0)
    return speedscope_broken(list->refusal, "Events out of order");
  st = speedscope_frame(file, number, &name, list->refusal);
  if (st)
    return st;
  open->last = at;
  if (type && strcmp(type, "C") == 0) {
    if (!open->depth)
      return speedscope_broken(list->refusal, "No stack to close");
    if (open->frames[open->depth - 1] != json_number_value(number))
      return speedscope_broken(list->refusal,
                               "Closing a frame that is not open");
    return sp_stack_list_add(list, open->names, open->depth--,
                             speedscope_value(passed, precision));
  }
  if (!type || strcmp(type, "O") != 0)
    return speedscope_broken(list->refusal, "Unknown event type");
  if (open->depth == SPEEDSCOPE_DEPTH_MAX)
    return speedscope_broken(list->refusal, "The stack is too deep");
  /* Whole units alone, as Pyroscope counts what comes before a call. */
  if (open->depth)
    st = sp_stack_list_add(list, open->names, open->depth,
                           speedscope_value(passed, 1));
  open->frames[open->depth] = json_number_value(number);
  open->names[open->depth++] = name;
  return st;
}

static spanprof_status speedscope_evented(const sp_speedscope *file,
                                          const json_t *profile,
                                          int64_t precision,
                                          sp_stack_list *list) {
  const json_t *events = json_object_get(profile, "events");
  spanprof_status st;
  speedscope_open *open;
  size_t i;

  st = sp_raw_new(list->arena, 1, sizeof *open, &open, list->refusal);
  if (st)
    return st;
  open->last = json_number_value(json_object_get(profile, "startValue"));
  for (i = 0; !st && i < json_array_size(events); i++)
    st = speedscope_event(file, json_array_get(events, i), precision, open,
                          list);
  return st;
}

spanprof_status sp_speedscope_read(const sp_speedscope *file, size_t i,
                                   sp_speedscope_profile *out,
                                   sp_stack_list *list) {
  const json_t *profile = json_array_get(file->profiles, i);
  const char *type = json_string_value(json_object_get(profile, "type"));
  const char *unit = json_string_value(json_object_get(profile, "unit"));
  const json_t *name = json_object_get(profile, "name");
  size_t k;

  for (k = 0; k < SP_COUNT_OF(speedscope_units) && unit; k++)
    if (strcmp(speedscope_units[k].name, unit) == 0)
      break;
  if (!unit || k == SP_COUNT_OF(speedscope_units))
    return sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                     "invalid profile unit: unknown unit: %s",
                     unit ? unit : "");
  out->unit = speedscope_units[k].name;
  out->value_ns = speedscope_units[k].value_ns;
  out->name = sp_view_of(json_is_string(name) ? json_string_value(name) : "",
                         json_string_length(name));
  if (type && strcmp(type, "sampled") == 0)
    return speedscope_sampled(file, profile, speedscope_units[k].precision,
                              list);
  if (type && strcmp(type, "evented") == 0)
    return speedscope_evented(file, profile, speedscope_units[k].precision,
                              list);
  return sp_refuse(list->refusal, SP_REFUSAL_BROKEN,
                   "Profile type %s not supported", type ? type : "");
}
