#include "push_request.h"

#include "json_wire.h"

/* Fields of push/v1/push.proto of grafana/pyroscope 3fe6a457a. */
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
    {"name", NULL, PUSH_LABEL_NAME, SP_JSON_TEXT, false, NULL},
    {"value", NULL, PUSH_LABEL_VALUE, SP_JSON_TEXT, false, NULL},
    {NULL, NULL, 0, SP_JSON_END, false, NULL}};

static const sp_json_field push_json_sample[] = {
    {"rawProfile", "raw_profile", PUSH_SAMPLE_PROFILE, SP_JSON_BASE64, false,
     NULL},
    {"ID", NULL, PUSH_SAMPLE_ID, SP_JSON_TEXT, false, NULL},
    {NULL, NULL, 0, SP_JSON_END, false, NULL}};

static const sp_json_field push_json_series[] = {
    {"labels", NULL, PUSH_SERIES_LABELS, SP_JSON_MESSAGE, true,
     push_json_label},
    {"samples", NULL, PUSH_SERIES_SAMPLES, SP_JSON_MESSAGE, true,
     push_json_sample},
    {NULL, NULL, 0, SP_JSON_END, false, NULL}};

static const sp_json_field push_json_request[] = {
    {"series", NULL, PUSH_SERIES, SP_JSON_MESSAGE, true, push_json_series},
    {NULL, NULL, 0, SP_JSON_END, false, NULL}};

spanprof_status sp_push_request_json(sp_view json, sp_buffer *out,
                                     sp_refusal *refusal) {
  const sp_json_rules rules = {.refuse_unknown = false};

  return sp_json_wire(json, push_json_request, &rules, out, refusal);
}

/* The fields 1 and 2 of a message, both bytes. */
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
    if (!sp_wire_want(&wire, &field, SP_WIRE_BYTES,
                      field.number == 1 ? first_name : second_name))
      break;
    *(field.number == 1 ? first : second) = field.bytes;
  }
  return sp_wire_status(&wire, type, refusal);
}

static spanprof_status push_labels(sp_view series, sp_series_labels *labels,
                                   sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(series);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;
  sp_view name, value;

  sp_series_labels_clear(labels);
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES_LABELS)
      continue;
    if (!sp_wire_want(&wire, &field, SP_WIRE_BYTES, "Labels"))
      break;
    st = push_pair(field.bytes, "LabelPair", "Name", "Value", &name, &value,
                   refusal);
    if (!st)
      st = sp_series_labels_add(labels, name, value);
  }
  return st ? st : sp_wire_status(&wire, "RawProfileSeries", refusal);
}

/* `visit` NULL: only look whether it can be read. */
static spanprof_status push_series(sp_view series, sp_series_labels *labels,
                                   sp_push_visit visit, void *data,
                                   sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(series);
  spanprof_status st =
      visit ? SPANPROF_OK : push_labels(series, labels, refusal);
  sp_wire_field field;
  sp_view profile, id;

  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES_SAMPLES)
      continue;
    if (!sp_wire_want(&wire, &field, SP_WIRE_BYTES, "Samples"))
      break;
    st = push_pair(field.bytes, "RawSample", "RawProfile", "ID", &profile, &id,
                   refusal);
    if (!st && visit)
      st = push_labels(series, labels, refusal);
    if (!st && visit)
      st = visit(data, labels, profile);
  }
  return st ? st : sp_wire_status(&wire, "RawProfileSeries", refusal);
}

static spanprof_status push_walk(sp_view message, sp_series_labels *labels,
                                 sp_push_visit visit, void *data,
                                 sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != PUSH_SERIES)
      continue;
    if (!sp_wire_want(&wire, &field, SP_WIRE_BYTES, "Series"))
      break;
    st = push_series(field.bytes, labels, visit, data, refusal);
  }
  return st ? st : sp_wire_status(&wire, "PushRequest", refusal);
}

spanprof_status sp_push_request_each(sp_view message, const sp_mem *mem,
                                     sp_push_visit visit, void *data,
                                     sp_refusal *refusal) {
  sp_series_labels labels;
  spanprof_status st;

  sp_series_labels_init(&labels, mem);
  st = push_walk(message, &labels, NULL, NULL, refusal);
  if (!st)
    st = push_walk(message, &labels, visit, data, refusal);
  sp_series_labels_dispose(&labels);
  return st;
}
