#include "push_request.h"

#include "server/receive/wire/json_wire.h"

/* The fields in push/v1/push.proto of grafana/pyroscope, commit 3fe6a457a. */
enum {
  PUSH_SERIES = 1,
  PUSH_SERIES_LABELS = 1,
  PUSH_SERIES_SAMPLES = 2,
  PUSH_LABEL_NAME = 1,
  PUSH_LABEL_VALUE = 2,
  PUSH_SAMPLE_PROFILE = 1,
  PUSH_SAMPLE_ID = 2
};

static const sp_json_field push_json_label[] = {
    SP_JSON_ONE("name", PUSH_LABEL_NAME, SP_JSON_TEXT),
    SP_JSON_ONE("value", PUSH_LABEL_VALUE, SP_JSON_TEXT), SP_JSON_LAST};

static const sp_json_field push_json_sample[] = {
    SP_JSON_ONE("rawProfile", PUSH_SAMPLE_PROFILE, SP_JSON_BASE64),
    SP_JSON_ONE("ID", PUSH_SAMPLE_ID, SP_JSON_TEXT), SP_JSON_LAST};

static const sp_json_field push_json_series[] = {
    SP_JSON_LIST("labels", PUSH_SERIES_LABELS, push_json_label),
    SP_JSON_LIST("samples", PUSH_SERIES_SAMPLES, push_json_sample),
    SP_JSON_LAST};

static const sp_json_field push_json_request[] = {
    SP_JSON_LIST("series", PUSH_SERIES, push_json_series), SP_JSON_LAST};

spanprof_status sp_push_request_json(sp_view json, sp_buffer *out,
                                     sp_refusal *refusal) {
  const sp_json_rules rules = {.refuse_unknown = false};

  return sp_json_wire(json, push_json_request, &rules, out, refusal);
}

/* Read the fields 1 and 2 of a message, which are both bytes. */
static spanprof_status push_pair(sp_view message, const char *type,
                                 const char *first_name,
                                 const char *second_name, sp_view *first,
                                 sp_view *second, sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(message);
  sp_wire_field field;

  *first = *second = sp_view_of("", 0);
  while (sp_wire_next(&wire, &field)) {
    if (field.number > 2)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES,
                         field.number == 1 ? first_name : second_name))
      break;
    *(field.number == 1 ? first : second) = field.bytes;
  }
  return sp_wire_status(&wire, type, refusal);
}

/* A pass over a request: the first pass checks it, the second calls `visit`. */
typedef struct push_walk {
  sp_push_visit visit; /* NULL: only check the request */
  void *data;
  sp_refusal *refusal;
  sp_series_labels given; /* labels of the current series */
  sp_series_labels own;   /* copy of the labels for the current profile */
  size_t profiles;
} push_walk;

static spanprof_status push_labels(push_walk *walk, sp_view series) {
  sp_wire wire = sp_wire_of(series);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;
  sp_view name, value;

  sp_series_labels_clear(&walk->given);
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES_LABELS)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "Labels"))
      break;
    st = push_pair(field.bytes, "LabelPair", "Name", "Value", &name, &value,
                   walk->refusal);
    if (!st && walk->given.count == SP_PUSH_LABELS_MAX)
      st = sp_refuse(walk->refusal, SP_REFUSAL_INVALID,
                     "a profile series has more than %zu labels",
                     SP_PUSH_LABELS_MAX);
    if (!st)
      st = sp_series_labels_add(&walk->given, name, value);
  }
  return st ? st : sp_wire_status(&wire, "RawProfileSeries", walk->refusal);
}

static spanprof_status push_profile(push_walk *walk, sp_view sample) {
  sp_view profile, id;
  spanprof_status st = push_pair(sample, "RawSample", "RawProfile", "ID",
                                 &profile, &id, walk->refusal);
  size_t i;

  if (!st && ++walk->profiles > SP_PUSH_PROFILES_MAX)
    return sp_refuse(walk->refusal, SP_REFUSAL_INVALID,
                     "the request has more than %zu profiles: send fewer at a "
                     "time",
                     SP_PUSH_PROFILES_MAX);
  if (st || !walk->visit)
    return st;
  sp_series_labels_clear(&walk->own);
  for (i = 0; !st && i < walk->given.count; i++)
    st = sp_series_labels_add(&walk->own, walk->given.labels[i].name,
                              walk->given.labels[i].value);
  return st ? st : walk->visit(walk->data, &walk->own, profile, id);
}

static spanprof_status push_series(push_walk *walk, sp_view series) {
  sp_wire wire = sp_wire_of(series);
  spanprof_status st = push_labels(walk, series);
  sp_wire_field field;

  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES_SAMPLES)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "Samples"))
      break;
    st = push_profile(walk, field.bytes);
  }
  return st ? st : sp_wire_status(&wire, "RawProfileSeries", walk->refusal);
}

static spanprof_status push_all(push_walk *walk, sp_view message) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  walk->profiles = 0;
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "Series"))
      break;
    st = push_series(walk, field.bytes);
  }
  return st ? st : sp_wire_status(&wire, "PushRequest", walk->refusal);
}

spanprof_status sp_push_request_each(sp_view message, const sp_mem *mem,
                                     sp_push_visit visit, void *data,
                                     sp_refusal *refusal) {
  push_walk walk = {.data = data, .refusal = refusal};
  spanprof_status st;

  sp_series_labels_init(&walk.given, mem);
  sp_series_labels_init(&walk.own, mem);
  st = push_all(&walk, message);
  walk.visit = visit;
  if (!st)
    st = push_all(&walk, message);
  sp_series_labels_dispose(&walk.own);
  sp_series_labels_dispose(&walk.given);
  return st;
}
