#include "otlp_profile.h"

#include <inttypes.h>

#include "otlp_builder.h"

#define OTLP_SERVICES_MAX      100 /* services of the samples of one profile */
#define OTLP_DURATION_NS       ((int64_t)10 * 1000000000)
#define OTLP_TRACE_BYTES       16
#define OTLP_SERVICE_ATTRIBUTE "service.name"

/* The conversion of a sample's values. */
typedef enum otlp_rule {
  OTLP_AS_IS,
  OTLP_TIMES_PERIOD, /* multiply the number of samples by the period */
  OTLP_SUM           /* use the sum of all values */
} otlp_rule;

typedef struct otlp_convert {
  const sp_otlp_tables *tables;
  sp_refusal *refusal;
  sp_otlp_head head;
  sp_otlp_sample *samples;
  sp_view *services; /* one for each sample */
} otlp_convert;

static spanprof_status otlp_refuse(otlp_convert *c, const char *what) {
  return sp_refuse(c->refusal, SP_REFUSAL_BROKEN,
                   "failed to convert otel profile: %s", what);
}

/* Read the samples and the service of each. */
static spanprof_status otlp_samples(otlp_convert *c) {
  sp_arena *arena = c->tables->arena;
  spanprof_status st;
  sp_view key, value;
  size_t i, k;

  st = sp_raw_new(arena, c->head.sample_count, sizeof *c->samples, &c->samples,
                  c->refusal);
  if (!st)
    st = sp_raw_new(arena, c->head.sample_count, sizeof *c->services,
                    &c->services, c->refusal);
  for (i = 0; !st && i < c->head.sample_count; i++) {
    bool named = false;

    c->services[i] = sp_view_of("", 0);
    st = sp_otlp_sample_read(&c->samples[i], arena, c->head.samples[i],
                             c->refusal);
    for (k = 0; !st && !named && k < c->samples[i].attribute_count; k++) {
      named = sp_otlp_attribute(c->tables, c->samples[i].attributes[k], &key,
                                &value) &&
              sp_view_is(key, OTLP_SERVICE_ATTRIBUTE);
      if (named)
        st = sp_otlp_value_text(c->tables, arena, value, &c->services[i],
                                c->refusal);
    }
  }
  return st;
}

static spanprof_status otlp_type_texts(otlp_convert *c,
                                       const sp_otlp_value_type *type,
                                       sp_view *name, sp_view *unit) {
  *name = *unit = sp_view_of("", 0);
  if (!type->is_set)
    return SPANPROF_OK;
  if (!sp_otlp_tables_at(c->tables, SP_OTLP_TEXTS, type->type, name))
    return otlp_refuse(c, "could not process sample type: could not access "
                          "type string: index out of bounds");
  if (!sp_otlp_tables_at(c->tables, SP_OTLP_TEXTS, type->unit, unit))
    return otlp_refuse(c, "could not process sample type: could not access "
                          "unit string: index out of bounds");
  return SPANPROF_OK;
}

/* Determine the type that is stored, the name of the metric, and the conversion
 * of values. */
static spanprof_status otlp_type(otlp_convert *c, sp_otlp_builder *builder,
                                 sp_otlp_profile *out, otlp_rule *rule) {
  sp_view type, unit, period_type, period_unit, shown, shown_unit;
  sp_raw_profile *raw = &out->raw;
  spanprof_status st;

  if (!c->head.sample_type.is_set)
    return otlp_refuse(c, "sample type is missing");
  st = otlp_type_texts(c, &c->head.sample_type, &type, &unit);
  if (!st)
    st = otlp_type_texts(c, &c->head.period_type, &period_type, &period_unit);
  if (!st && raw->has_period_type)
    st = sp_otlp_builder_text(builder, period_type, &raw->period_type.type);
  if (!st && raw->has_period_type)
    st = sp_otlp_builder_text(builder, period_unit, &raw->period_type.unit);
  if (st)
    return st;
  shown = raw->period ? period_type : sp_view_of("", 0);
  shown_unit = raw->period ? period_unit : sp_view_of("", 0);
  *rule = OTLP_AS_IS;
  out->name = shown;
  if (sp_view_is(type, "samples") && sp_view_is(unit, "count") &&
      sp_view_is(shown, "cpu") && sp_view_is(shown_unit, "nanoseconds")) {
    *rule = OTLP_TIMES_PERIOD;
    out->name = sp_view_text("process_cpu");
    type = sp_view_text("cpu");
    unit = sp_view_text("nanoseconds");
  } else if (sp_view_is(type, "off_cpu") && sp_view_is(unit, "nanoseconds") &&
             !shown.size && !shown_unit.size) {
    *rule = OTLP_SUM;
    out->name = sp_view_text("off_cpu");
  }
  st = sp_otlp_builder_text(builder, type, &raw->types[0].type);
  return st ? st : sp_otlp_builder_text(builder, unit, &raw->types[0].unit);
}

static spanprof_status otlp_values(otlp_convert *c,
                                   const sp_otlp_sample *sample, otlp_rule rule,
                                   const sp_raw_profile *raw,
                                   sp_raw_sample *out) {
  uint64_t sum = 0;
  spanprof_status st;
  size_t i;

  if (!sample->value_count && !sample->time_count)
    return otlp_refuse(c, "sample value is required");
  st = sp_raw_new(c->tables->arena, sample->value_count, sizeof *out->values,
                  &out->values, c->refusal);
  if (st)
    return st;
  out->value_count = sample->value_count;
  for (i = 0; i < sample->value_count; i++) {
    out->values[i] = sample->values[i];
    sum += (uint64_t)sample->values[i];
  }
  if (!sample->value_count) {
    out->value_count = 1;
    out->values[0] = (int64_t)(sum = sample->time_count);
  }
  if (rule == OTLP_TIMES_PERIOD)
    out->values[0] =
        (int64_t)((uint64_t)out->values[0] * (uint64_t)raw->period);
  if (rule == OTLP_SUM) {
    out->values[0] = (int64_t)sum;
    out->value_count = 1;
  }
  if (raw->period && raw->has_period_type && out->value_count != 1)
    return sp_refuse(c->refusal, SP_REFUSAL_BROKEN,
                     "failed to convert otel profile: sample values length "
                     "mismatch %zu 1",
                     out->value_count);
  return SPANPROF_OK;
}

static spanprof_status otlp_label(sp_otlp_builder *builder, const char *name,
                                  sp_view key, sp_view text,
                                  sp_raw_sample *out) {
  sp_raw_label *label = &out->labels[out->label_count];
  spanprof_status st;

  if (!text.size)
    return SPANPROF_OK;
  st = sp_otlp_builder_text(builder, name ? sp_view_text(name) : key,
                            &label->key);
  if (!st)
    st = sp_otlp_builder_text(builder, text, &label->text);
  if (!st)
    out->label_count++;
  return st;
}

static spanprof_status otlp_hex_label(otlp_convert *c, sp_otlp_builder *builder,
                                      const char *name, sp_view bytes,
                                      sp_raw_sample *out) {
  static const char digits[] = "0123456789abcdef";
  spanprof_status st;
  char *text;
  size_t i;

  /* Longer values are not ids, so they get no label. */
  if (bytes.size > OTLP_TRACE_BYTES)
    return SPANPROF_OK;
  st = sp_raw_new(c->tables->arena, 2 * bytes.size, 1, &text, c->refusal);
  if (st)
    return st;
  for (i = 0; i < bytes.size; i++) {
    text[2 * i] = digits[(uint8_t)bytes.bytes[i] >> 4];
    text[2 * i + 1] = digits[(uint8_t)bytes.bytes[i] & 15];
  }
  return otlp_label(builder, name, sp_view_of("", 0),
                    sp_view_of(text, 2 * bytes.size), out);
}

static spanprof_status otlp_link(otlp_convert *c, sp_otlp_builder *builder,
                                 uint64_t number, sp_raw_sample *out) {
  sp_view message, trace, span;
  spanprof_status st;
  sp_wire_field field;
  sp_wire wire;

  if (!number)
    return SPANPROF_OK;
  if (!sp_otlp_tables_at(c->tables, SP_OTLP_LINKS, number, &message))
    return sp_refuse(c->refusal, SP_REFUSAL_BROKEN,
                     "failed to convert otel profile: could not access link at "
                     "index %" PRId64 ": index %" PRId64 " out of bounds",
                     (int64_t)number, (int64_t)number);
  trace = span = sp_view_of("", 0);
  wire = sp_wire_of(message);
  while (sp_wire_next(&wire, &field)) {
    if (field.number == 1)
      trace = field.bytes;
    else if (field.number == 2)
      span = field.bytes;
  }
  st = sp_wire_status(&wire, "Link", c->refusal);
  if (!st)
    st = otlp_hex_label(c, builder, "span_id", span, out);
  if (!st && trace.size == OTLP_TRACE_BYTES)
    st = otlp_hex_label(c, builder, "trace_id", trace, out);
  return st;
}

static spanprof_status otlp_labels(otlp_convert *c, sp_otlp_builder *builder,
                                   const sp_otlp_sample *sample,
                                   sp_raw_sample *out) {
  spanprof_status st;
  sp_view key, value, text;
  size_t k;

  if (sample->attribute_count + 2 > SP_RAW_LABELS_MAX) {
    out->label_count = sample->attribute_count + 2; /* the check of the profile
                                                     * refuses such a count */
    return SPANPROF_OK;
  }
  st = sp_raw_new(c->tables->arena, sample->attribute_count + 2,
                  sizeof *out->labels, &out->labels, c->refusal);
  for (k = 0; !st && k < sample->attribute_count; k++) {
    if (!sp_otlp_attribute(c->tables, sample->attributes[k], &key, &value) ||
        sp_view_is(key, OTLP_SERVICE_ATTRIBUTE))
      continue; /* ignored */
    st = sp_otlp_value_text(c->tables, c->tables->arena, value, &text,
                            c->refusal);
    if (!st)
      st = otlp_label(builder, NULL, key, text, out);
  }
  return st ? st : otlp_link(c, builder, sample->link, out);
}

static spanprof_status otlp_sample(otlp_convert *c, sp_otlp_builder *builder,
                                   const sp_otlp_sample *sample, otlp_rule rule,
                                   sp_raw_profile *raw) {
  sp_raw_sample *out = &raw->samples[raw->sample_count++];
  sp_otlp_stack stack;
  spanprof_status st = otlp_values(c, sample, rule, raw, out);

  if (!st)
    st = otlp_labels(c, builder, sample, out);
  if (!st)
    st = sp_otlp_builder_stack(builder, sample->stack, &stack);
  if (st)
    return st;
  out->locations = stack.locations;
  out->location_count = stack.count;
  raw->bytes += 8 + 2 * stack.count;
  return SPANPROF_OK;
}

/* Convert the samples of one service. */
static spanprof_status otlp_one(otlp_convert *c, sp_view service,
                                sp_otlp_profile *out) {
  sp_raw_profile *raw = &out->raw;
  sp_otlp_builder builder;
  otlp_rule rule = OTLP_AS_IS;
  spanprof_status st;
  int64_t empty;
  size_t i;

  out->service = service;
  raw->arena = c->tables->arena;
  raw->time_ns = (int64_t)c->head.time_ns;
  raw->upload_id = sp_raw_upload_id(c->head.id);
  raw->duration_ns =
      c->head.duration_ns ? (int64_t)c->head.duration_ns : OTLP_DURATION_NS;
  raw->period = (int64_t)c->head.period;
  raw->has_period_type = c->head.period_type.is_set;
  raw->type_count = 1;
  sp_otlp_builder_init(&builder, c->tables, raw, c->refusal);
  st = sp_raw_new(raw->arena, 1, sizeof *raw->types, &raw->types, c->refusal);
  if (!st)
    st = sp_raw_new(raw->arena, c->head.sample_count, sizeof *raw->samples,
                    &raw->samples, c->refusal);
  if (!st)
    st = sp_otlp_builder_text(&builder, sp_view_of("", 0), &empty);
  if (!st)
    st = otlp_type(c, &builder, out, &rule);
  for (i = 0; !st && i < c->head.sample_count; i++)
    if (sp_view_equal(c->services[i], service))
      st = otlp_sample(c, &builder, &c->samples[i], rule, raw);
  sp_otlp_builder_dispose(&builder);
  return st;
}

static spanprof_status otlp_services(otlp_convert *c, sp_view *services,
                                     size_t *count) {
  size_t i, k;

  for (i = 0; i < c->head.sample_count; i++) {
    for (k = 0; k < *count && !sp_view_equal(services[k], c->services[i]); k++)
      ;
    if (k < *count)
      continue;
    if (*count == OTLP_SERVICES_MAX)
      return otlp_refuse(c,
                         "the profile's samples name more than 100 services");
    services[(*count)++] = c->services[i];
  }
  return SPANPROF_OK;
}

spanprof_status sp_otlp_profile_convert(sp_otlp_profile **out, size_t *count,
                                        const sp_otlp_tables *tables,
                                        sp_view message, sp_refusal *refusal) {
  otlp_convert c = {.tables = tables, .refusal = refusal};
  sp_view services[OTLP_SERVICES_MAX];
  spanprof_status st;
  size_t i;

  *out = NULL;
  *count = 0;
  st = sp_otlp_head_read(&c.head, tables->arena, message, refusal);
  if (!st)
    st = otlp_samples(&c);
  if (!st)
    st = otlp_services(&c, services, count);
  if (!st)
    st = sp_raw_new(tables->arena, *count, sizeof **out, out, refusal);
  for (i = 0; !st && i < *count; i++)
    st = otlp_one(&c, services[i], &(*out)[i]);
  return st;
}
