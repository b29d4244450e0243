#include "raw_profile.h"

#define RAW_DECODED_BYTES_MAX ((size_t)8 << 20)

#define RAW_SCALAR(type, number, member, name) \
  { number, offsetof(type, member), name }

/* Fields of Profile: google/pprof b9395ee17, proto/profile.proto. */
enum {
  RAW_TYPE = 1,
  RAW_SAMPLE = 2,
  RAW_MAPPING = 3,
  RAW_LOCATION = 4,
  RAW_FUNCTION = 5,
  RAW_TEXT = 6,
  RAW_TIME = 9,
  RAW_DURATION = 10,
  RAW_PERIOD_TYPE = 11,
  RAW_PERIOD = 12,
  RAW_FIELDS
};

static const char *const raw_names[RAW_FIELDS] = {
    [RAW_TYPE] = "SampleType",        [RAW_SAMPLE] = "Sample",
    [RAW_MAPPING] = "Mapping",        [RAW_LOCATION] = "Location",
    [RAW_FUNCTION] = "Function",      [RAW_TEXT] = "StringTable",
    [RAW_TIME] = "TimeNanos",         [RAW_DURATION] = "DurationNanos",
    [RAW_PERIOD_TYPE] = "PeriodType", [RAW_PERIOD] = "Period"};

static const sp_wire_scalar raw_type_fields[] = {
    RAW_SCALAR(sp_raw_type, 1, type, "Type"),
    RAW_SCALAR(sp_raw_type, 2, unit, "Unit")};

static const sp_wire_scalar raw_label_fields[] = {
    RAW_SCALAR(sp_raw_label, 1, key, "Key"),
    RAW_SCALAR(sp_raw_label, 2, text, "Str"),
    RAW_SCALAR(sp_raw_label, 3, number, "Num"),
    RAW_SCALAR(sp_raw_label, 4, unit, "NumUnit")};

static const sp_wire_scalar raw_mapping_fields[] = {
    RAW_SCALAR(sp_raw_mapping, 1, id, "Id"),
    RAW_SCALAR(sp_raw_mapping, 5, file, "Filename"),
    RAW_SCALAR(sp_raw_mapping, 6, build_id, "BuildId")};

static const sp_wire_scalar raw_line_fields[] = {
    RAW_SCALAR(sp_raw_line, 1, function, "FunctionId"),
    RAW_SCALAR(sp_raw_line, 2, line, "Line")};

static const sp_wire_scalar raw_location_fields[] = {
    RAW_SCALAR(sp_raw_location, 1, id, "Id"),
    RAW_SCALAR(sp_raw_location, 2, mapping, "MappingId")};

static const sp_wire_scalar raw_function_fields[] = {
    RAW_SCALAR(sp_raw_function, 1, id, "Id"),
    RAW_SCALAR(sp_raw_function, 2, name, "Name"),
    RAW_SCALAR(sp_raw_function, 3, system_name, "SystemName"),
    RAW_SCALAR(sp_raw_function, 4, file, "Filename"),
    RAW_SCALAR(sp_raw_function, 5, start_line, "StartLine")};

#define RAW_SCALARS(fields) fields, SP_COUNT_OF(fields)

static spanprof_status raw_arena_status(const sp_arena *arena,
                                        sp_refusal *refusal) {
  if (arena->st != SPANPROF_ERR_LIMIT)
    return arena->st;
  return sp_refuse(refusal, SP_REFUSAL_LARGE,
                   "the profile takes more than %zu MiB of memory to read",
                   arena->bytes_max >> 20);
}

spanprof_status sp_raw_new(sp_arena *arena, size_t count, size_t item,
                           void *out, sp_refusal *refusal) {
  void *p = sp_arena_new(arena, count ? count : 1, item);

  memcpy(out, &p, sizeof p);
  return p ? SPANPROF_OK : raw_arena_status(arena, refusal);
}

/* The state of the reader. */
typedef struct raw_reader {
  sp_raw_profile *profile;
  sp_wire *wire;
  sp_refusal *refusal;
  size_t counts[RAW_TEXT + 1];
  size_t sample_bytes; /* encoded size of all samples */
  sp_arena scratch;
} raw_reader;

static spanprof_status raw_status(const raw_reader *reader) {
  return sp_wire_status(reader->wire, "Profile", reader->refusal);
}

/* Count the items of each repeated field. */
static spanprof_status raw_count(raw_reader *reader, sp_view bytes) {
  sp_wire wire = sp_wire_of(bytes);
  sp_wire_field field;

  while (sp_wire_next(&wire, &field)) {
    const bool is_message =
        field.number <= RAW_TEXT || field.number == RAW_PERIOD_TYPE;

    if (field.number >= RAW_FIELDS || !raw_names[field.number])
      continue;
    if (!sp_wire_require(&wire, &field,
                         is_message ? SP_WIRE_BYTES : SP_WIRE_NUMBER,
                         raw_names[field.number]))
      break;
    if (field.number <= RAW_TEXT)
      reader->counts[field.number]++;
    if (field.number == RAW_SAMPLE)
      reader->sample_bytes += field.bytes.size;
  }
  return sp_wire_status(&wire, "Profile", reader->refusal);
}

/* Returns whether the samples stay decoded. Those of an ordinary profile do,
 * because decoding a sample again for each pass over the samples costs a third
 * of the CPU time of a push. Those of a large profile do not, because a
 * location id of one byte becomes eight bytes. */
static bool raw_keeps_decoded(const raw_reader *reader) {
  const size_t count = reader->counts[RAW_SAMPLE];

  return reader->sample_bytes <= RAW_DECODED_BYTES_MAX / 8 &&
         8 * reader->sample_bytes + count * sizeof(sp_raw_sample) <=
             RAW_DECODED_BYTES_MAX;
}

static spanprof_status raw_sample_tables(raw_reader *reader) {
  sp_raw_profile *p = reader->profile;
  const size_t count = reader->counts[RAW_SAMPLE];

  if (raw_keeps_decoded(reader))
    return sp_raw_new(p->arena, count, sizeof *p->samples, &p->samples,
                      reader->refusal);
  return sp_raw_new(p->arena, count, sizeof *p->sample_messages,
                    &p->sample_messages, reader->refusal);
}

static spanprof_status raw_tables(raw_reader *reader) {
  sp_raw_profile *p = reader->profile;
  const size_t *counts = reader->counts;
  spanprof_status st;

  st = sp_raw_new(p->arena, counts[RAW_TYPE], sizeof *p->types, &p->types,
                  reader->refusal);
  if (!st)
    st = sp_raw_new(p->arena, counts[RAW_MAPPING], sizeof *p->mappings,
                    &p->mappings, reader->refusal);
  if (!st)
    st = sp_raw_new(p->arena, counts[RAW_LOCATION], sizeof *p->locations,
                    &p->locations, reader->refusal);
  if (!st)
    st = sp_raw_new(p->arena, counts[RAW_FUNCTION], sizeof *p->functions,
                    &p->functions, reader->refusal);
  if (!st)
    st = sp_raw_new(p->arena, counts[RAW_TEXT], sizeof *p->texts, &p->texts,
                    reader->refusal);
  return st ? st : raw_sample_tables(reader);
}

static void raw_sample_count(sp_wire *wire, sp_raw_sample *sample) {
  sp_wire_field field;
  bool sound = true;

  while (sound && sp_wire_next(wire, &field)) {
    if (field.number == 1)
      sound =
          sp_wire_count(wire, &field, "LocationId", &sample->location_count);
    else if (field.number == 2)
      sound = sp_wire_count(wire, &field, "Value", &sample->value_count);
    else if (field.number == 3)
      sound = sp_wire_require(wire, &field, SP_WIRE_BYTES, "Label") &&
              ++sample->label_count;
  }
}

static void raw_sample_fill(sp_wire *wire, sp_raw_sample *sample) {
  size_t locations = 0, values = 0, labels = 0;
  sp_wire_field field;
  bool sound = true;

  while (sound && sp_wire_next(wire, &field)) {
    if (field.number == 1)
      sound = sp_wire_numbers(wire, &field, sample->locations, &locations);
    else if (field.number == 2)
      sound =
          sp_wire_numbers(wire, &field, (uint64_t *)sample->values, &values);
    else if (field.number == 3 && labels < sample->label_count)
      sound = sp_wire_scalars(wire, field.bytes, RAW_SCALARS(raw_label_fields),
                              &sample->labels[labels++]);
  }
}

/* Decode a sample. If the sample is malformed, sets wire->fault and returns
 * SPANPROF_OK. If an allocation fails, returns the status of the arena. */
static spanprof_status raw_sample(sp_arena *arena, sp_view message,
                                  sp_wire *wire, sp_raw_sample *sample) {
  memset(sample, 0, sizeof *sample);
  *wire = sp_wire_of(message);
  raw_sample_count(wire, sample);
  if (wire->fault)
    return SPANPROF_OK;
  sample->label_count = sp_min_u64(sample->label_count, SP_RAW_LABELS_MAX);
  sample->locations =
      sp_arena_new(arena, sample->location_count, sizeof *sample->locations);
  sample->values =
      sp_arena_new(arena, sample->value_count, sizeof *sample->values);
  sample->labels =
      sp_arena_new(arena, sample->label_count, sizeof *sample->labels);
  if (!sample->locations || !sample->values || !sample->labels)
    return arena->st;
  *wire = sp_wire_of(message);
  raw_sample_fill(wire, sample);
  return SPANPROF_OK;
}

void sp_raw_samples_init(sp_raw_samples *samples,
                         const sp_raw_profile *profile) {
  memset(samples, 0, sizeof *samples);
  samples->profile = profile;
  sp_arena_init(&samples->arena, profile->arena->mem, SIZE_MAX);
}

void sp_raw_samples_dispose(sp_raw_samples *samples) {
  sp_arena_dispose(&samples->arena);
}

const sp_raw_sample *sp_raw_samples_at(sp_raw_samples *samples, size_t i) {
  const sp_raw_profile *profile = samples->profile;
  sp_wire wire;

  if (profile->samples)
    return &profile->samples[i];
  sp_arena_clear(&samples->arena);
  return raw_sample(&samples->arena, profile->sample_messages[i], &wire,
                    &samples->sample)
             ? NULL
             : &samples->sample;
}

/* Decode a sample to check it. The profile gets the decoded sample or, if it is
 * large, only the encoded one. */
static spanprof_status raw_read_sample(raw_reader *reader, sp_view message) {
  sp_raw_profile *p = reader->profile;
  const size_t i = p->sample_count++;
  sp_arena *arena = p->samples ? p->arena : &reader->scratch;
  sp_raw_sample sample;
  sp_wire wire;

  sp_arena_clear(&reader->scratch);
  if (raw_sample(arena, message, &wire, p->samples ? &p->samples[i] : &sample))
    return raw_arena_status(arena, reader->refusal);
  if (!p->samples)
    p->sample_messages[i] = message;
  return sp_wire_status(&wire, "Sample", reader->refusal);
}

static spanprof_status raw_location(raw_reader *reader, sp_view message) {
  sp_raw_profile *p = reader->profile;
  sp_raw_location *location = &p->locations[p->location_count++];
  sp_wire wire = sp_wire_of(message);
  spanprof_status st;
  sp_wire_field field;
  size_t lines = 0;

  while (sp_wire_next(&wire, &field)) {
    if (field.number != 4)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "Line"))
      break;
    lines++;
  }
  st = sp_wire_status(&wire, "Location", reader->refusal);
  if (!st)
    st = sp_raw_new(p->arena, lines, sizeof *location->lines, &location->lines,
                    reader->refusal);
  if (st)
    return st;
  wire = sp_wire_of(message);
  if (!sp_wire_scalars(&wire, message, RAW_SCALARS(raw_location_fields),
                       location))
    return sp_wire_status(&wire, "Location", reader->refusal);
  while (sp_wire_next(&wire, &field))
    if (field.number == 4 &&
        !sp_wire_scalars(&wire, field.bytes, RAW_SCALARS(raw_line_fields),
                         &location->lines[location->line_count++]))
      break;
  return sp_wire_status(&wire, "Line", reader->refusal);
}

static spanprof_status raw_field(raw_reader *reader,
                                 const sp_wire_field *field) {
  sp_raw_profile *p = reader->profile;
  sp_wire *wire = reader->wire;

  switch (field->number) {
  case RAW_TYPE:
    sp_wire_scalars(wire, field->bytes, RAW_SCALARS(raw_type_fields),
                    &p->types[p->type_count++]);
    break;
  case RAW_SAMPLE:
    return raw_read_sample(reader, field->bytes);
  case RAW_MAPPING:
    sp_wire_scalars(wire, field->bytes, RAW_SCALARS(raw_mapping_fields),
                    &p->mappings[p->mapping_count++]);
    break;
  case RAW_LOCATION:
    return raw_location(reader, field->bytes);
  case RAW_FUNCTION:
    sp_wire_scalars(wire, field->bytes, RAW_SCALARS(raw_function_fields),
                    &p->functions[p->function_count++]);
    break;
  case RAW_TEXT:
    p->texts[p->text_count++] = field->bytes;
    break;
  case RAW_TIME:
    p->time_ns = (int64_t)field->value;
    break;
  case RAW_DURATION:
    p->duration_ns = (int64_t)field->value;
    break;
  case RAW_PERIOD_TYPE:
    p->has_period_type = true;
    sp_wire_scalars(wire, field->bytes, RAW_SCALARS(raw_type_fields),
                    &p->period_type);
    break;
  case RAW_PERIOD:
    p->period = (int64_t)field->value;
    break;
  }
  return raw_status(reader);
}

spanprof_status sp_raw_read(sp_raw_profile *out, sp_arena *arena, sp_view bytes,
                            sp_refusal *refusal) {
  sp_wire wire = sp_wire_of(bytes);
  raw_reader reader = {.profile = out, .wire = &wire, .refusal = refusal};
  spanprof_status st;
  sp_wire_field field;

  memset(out, 0, sizeof *out);
  out->arena = arena;
  out->bytes = bytes.size;
  sp_arena_init(&reader.scratch, arena->mem, SIZE_MAX);
  st = raw_count(&reader, bytes);
  if (!st)
    st = raw_tables(&reader);
  while (!st && sp_wire_next(&wire, &field))
    st = raw_field(&reader, &field);
  sp_arena_dispose(&reader.scratch);
  return st ? st : raw_status(&reader);
}
