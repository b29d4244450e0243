#include "otlp_sample.h"

/* Fields of Profile and Sample. */
enum {
  OTLP_PROFILE_TYPE = 1,
  OTLP_PROFILE_SAMPLES = 2,
  OTLP_PROFILE_TIME = 3,
  OTLP_PROFILE_DURATION = 4,
  OTLP_PROFILE_PERIOD_TYPE = 5,
  OTLP_PROFILE_PERIOD = 6,
  OTLP_PROFILE_ID = 7,
  OTLP_SAMPLE_STACK = 1,
  OTLP_SAMPLE_ATTRIBUTES = 2,
  OTLP_SAMPLE_LINK = 3,
  OTLP_SAMPLE_VALUES = 4,
  OTLP_SAMPLE_TIMES = 5
};

static const sp_wire_scalar otlp_type_fields[] = {
    {1, offsetof(sp_otlp_value_type, type), "type_strindex"},
    {2, offsetof(sp_otlp_value_type, unit), "unit_strindex"}};

static bool otlp_value_type(sp_wire *wire, const sp_wire_field *field,
                            sp_otlp_value_type *out) {
  out->is_set = true;
  return sp_wire_require(wire, field, SP_WIRE_BYTES, "sample_type") &&
         sp_wire_scalars(wire, field->bytes, otlp_type_fields,
                         SP_COUNT_OF(otlp_type_fields), out);
}

static bool otlp_head_field(sp_wire *wire, const sp_wire_field *field,
                            sp_otlp_head *out) {
  switch (field->number) {
  case OTLP_PROFILE_TYPE:
    return otlp_value_type(wire, field, &out->sample_type);
  case OTLP_PROFILE_SAMPLES:
    if (out->samples)
      out->samples[out->sample_count] = field->bytes;
    out->sample_count++;
    return sp_wire_require(wire, field, SP_WIRE_BYTES, "samples");
  case OTLP_PROFILE_TIME:
    out->time_ns = field->value;
    return sp_wire_require(wire, field, SP_WIRE_FIXED64, "time_unix_nano");
  case OTLP_PROFILE_DURATION:
    out->duration_ns = field->value;
    return sp_wire_require(wire, field, SP_WIRE_NUMBER, "duration_nano");
  case OTLP_PROFILE_PERIOD_TYPE:
    return otlp_value_type(wire, field, &out->period_type);
  case OTLP_PROFILE_PERIOD:
    out->period = field->value;
    return sp_wire_require(wire, field, SP_WIRE_NUMBER, "period");
  case OTLP_PROFILE_ID:
    out->id = field->bytes;
    return sp_wire_require(wire, field, SP_WIRE_BYTES, "profile_id");
  }
  return true;
}

spanprof_status sp_otlp_head_read(sp_otlp_head *out, sp_arena *arena,
                                  sp_view message, sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st;
  sp_wire_field field;
  size_t count;

  memset(out, 0, sizeof *out);
  while (sp_wire_next(&wire, &field) && otlp_head_field(&wire, &field, out))
    ;
  st = sp_wire_status(&wire, "Profile", refusal);
  count = out->sample_count;
  if (!st)
    st = sp_raw_new(arena, count, sizeof *out->samples, &out->samples, refusal);
  if (st)
    return st;
  out->sample_count = 0;
  wire = sp_wire_of(message);
  while (sp_wire_next(&wire, &field) && otlp_head_field(&wire, &field, out))
    ;
  return SPANPROF_OK;
}

/* Read one field. Lists of numbers are only counted if `out` has no memory for
 * them yet. */
static bool otlp_sample_field(sp_wire *wire, const sp_wire_field *field,
                              sp_otlp_sample *out) {
  switch (field->number) {
  case OTLP_SAMPLE_STACK:
    out->stack = field->value;
    return sp_wire_require(wire, field, SP_WIRE_NUMBER, "stack_index");
  case OTLP_SAMPLE_LINK:
    out->link = field->value;
    return sp_wire_require(wire, field, SP_WIRE_NUMBER, "link_index");
  case OTLP_SAMPLE_ATTRIBUTES:
    if (!out->attributes)
      return sp_wire_count(wire, field, "attribute_indices",
                           &out->attribute_count);
    return sp_wire_numbers(wire, field, out->attributes, &out->attribute_count);
  case OTLP_SAMPLE_VALUES:
    if (!out->values)
      return sp_wire_count(wire, field, "values", &out->value_count);
    return sp_wire_numbers(wire, field, (uint64_t *)out->values,
                           &out->value_count);
  case OTLP_SAMPLE_TIMES:
    out->time_count += field->type == SP_WIRE_BYTES ? field->bytes.size / 8 : 1;
    return true;
  }
  return true;
}

spanprof_status sp_otlp_sample_read(sp_otlp_sample *out, sp_arena *arena,
                                    sp_view message, sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st;
  sp_wire_field field;

  memset(out, 0, sizeof *out);
  while (sp_wire_next(&wire, &field) && otlp_sample_field(&wire, &field, out))
    ;
  st = sp_wire_status(&wire, "Sample", refusal);
  if (!st)
    st = sp_raw_new(arena, out->attribute_count, sizeof *out->attributes,
                    &out->attributes, refusal);
  if (!st)
    st = sp_raw_new(arena, out->value_count, sizeof *out->values, &out->values,
                    refusal);
  if (st)
    return st;
  out->attribute_count = out->value_count = out->time_count = 0;
  wire = sp_wire_of(message);
  while (sp_wire_next(&wire, &field) && otlp_sample_field(&wire, &field, out))
    ;
  return sp_wire_status(&wire, "Sample", refusal);
}
