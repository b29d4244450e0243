/* The top-level fields are read by spanprof's own code, in several passes,
 * because texts may follow the messages that refer to them. Each message is
 * unpacked by protobuf-c into scratch memory and copied, so that no tree of the
 * whole profile exists. */
#include "pprof_reader.h"

#include "gunzip.h"
#include "pprof_table.h"
#include "util/system/status.h"

_Static_assert(SP_PPROF_NONE == SP_INDEX_NONE, "both constants mean no number");

typedef struct reader_whole {
  sp_pprof profile; /* must be first, because the caller has a pointer to it */
  sp_arena arena;
} reader_whole;

typedef struct reader {
  sp_pprof *profile; /* the profile's counts grow as its arrays are filled */
  /* The arrays of `profile`, writable. */
  sp_pprof_type *types;
  sp_pprof_sample *samples;
  const char **comments;
  sp_pprof_source source;
  /* Number of messages or texts of each field. */
  size_t counts[SP_PPROF_FIELD_COUNT];
  int64_t default_type;
  sp_pprof_table table;
  bool head_only;
} reader;

static spanprof_status reader_type(reader *r, const sp_wire_field *field,
                                   sp_pprof_type *out) {
  spanprof_status st;
  const Perftools__Profiles__ValueType *type = sp_pprof_source_unpack(
      &r->source, field, &perftools__profiles__value_type__descriptor, &st);

  if (!st)
    st = sp_pprof_source_text(&r->source, type->type, &out->type);
  if (!st)
    st = sp_pprof_source_text(&r->source, type->unit, &out->unit);
  return st;
}

static spanprof_status reader_read_type(void *data,
                                        const sp_wire_field *field) {
  reader *r = data;

  return reader_type(r, field, &r->types[r->profile->type_count++]);
}

static spanprof_status reader_read_period_type(void *data,
                                               const sp_wire_field *field) {
  reader *r = data;

  return reader_type(r, field, &r->profile->period_type);
}

static spanprof_status reader_label(const reader *r,
                                    const Perftools__Profiles__Label *label,
                                    sp_pprof_label *out) {
  spanprof_status st = sp_pprof_source_text(&r->source, label->key, &out->key);

  if (!st && label->str)
    st = sp_pprof_source_text(&r->source, label->str, &out->text);
  if (!st)
    st = sp_pprof_source_text(&r->source, label->num_unit, &out->unit);
  out->number = label->num;
  return st;
}

static spanprof_status
reader_sample_labels(reader *r, const Perftools__Profiles__Sample *sample,
                     sp_pprof_sample *out) {
  sp_pprof_label *labels =
      sp_pprof_source_new(&r->source, sample->n_label, sizeof *labels);
  spanprof_status st = SPANPROF_OK;
  size_t i;

  if (!labels)
    return sp_pprof_source_memory(&r->source);
  out->labels = labels;
  for (i = 0; !st && i < sample->n_label; i++) {
    const Perftools__Profiles__Label *label = sample->label[i];

    /* Labels without a value are dropped, as in go tool pprof. */
    if (label->str || label->num || label->num_unit)
      st = reader_label(r, label, &labels[out->label_count++]);
  }
  return st;
}

static spanprof_status reader_read_sample(void *data,
                                          const sp_wire_field *field) {
  reader *r = data;
  sp_pprof_sample *out = &r->samples[r->profile->sample_count++];
  spanprof_status st;
  const Perftools__Profiles__Sample *sample = sp_pprof_source_unpack(
      &r->source, field, &perftools__profiles__sample__descriptor, &st);
  uint32_t *locations;
  int64_t *values;
  size_t i;

  if (!sample)
    return st;
  if (sample->n_value != r->profile->type_count)
    return sp_pprof_source_broken(
        "a sample does not have one value of each type");
  values = sp_pprof_source_new(&r->source, sample->n_value, sizeof *values);
  locations =
      sp_pprof_source_new(&r->source, sample->n_location_id, sizeof *locations);
  if (!values || !locations)
    return sp_pprof_source_memory(&r->source);
  memcpy(values, sample->value, sample->n_value * sizeof *values);
  for (i = 0; i < sample->n_location_id; i++) {
    locations[i] =
        sp_pprof_ids_find(&r->table.location_ids, sample->location_id[i]);
    if (locations[i] == SP_PPROF_NONE)
      return sp_pprof_source_broken(
          "a sample refers to a location that does not exist");
  }
  out->values = values;
  out->locations = locations;
  out->location_count = (uint32_t)sample->n_location_id;
  return reader_sample_labels(r, sample, out);
}

static spanprof_status reader_comment(reader *r, uint64_t number) {
  return sp_pprof_source_text(&r->source, (int64_t)number,
                              &r->comments[r->profile->comment_count++]);
}

static spanprof_status reader_read_comment(void *data,
                                           const sp_wire_field *field) {
  spanprof_status st = SPANPROF_OK;
  sp_wire numbers;
  uint64_t number;

  if (field->type != SP_WIRE_BYTES)
    return reader_comment(data, field->value);
  numbers = sp_wire_of(field->bytes);
  while (!st && sp_wire_number(&numbers, &number))
    st = reader_comment(data, number);
  return st || !numbers.fault
             ? st
             : sp_pprof_source_broken("its comments end too early");
}

/* Read a numeric field that should occur once. If it occurs again, the last one
 * is used, as protobuf specifies. */
static spanprof_status reader_read_number(reader *r,
                                          const sp_wire_field *field) {
  sp_pprof *profile = r->profile;
  const int64_t value = (int64_t)field->value;

  switch (field->number) {
  case SP_PPROF_FIELD_TIME:
    if (profile->time_ns && value)
      return sp_pprof_source_broken("it contains two profiles");
    profile->time_ns = value;
    break;
  case SP_PPROF_FIELD_DURATION:
    profile->duration_ns = value;
    break;
  case SP_PPROF_FIELD_PERIOD:
    profile->period = value;
    break;
  case SP_PPROF_FIELD_DEFAULT_TYPE:
    r->default_type = value;
    break;
  }
  return SPANPROF_OK;
}

/* Count the messages of each kind, and read the numeric fields. */
static spanprof_status reader_count(reader *r) {
  sp_wire fields = sp_wire_of(sp_view_of(r->source.bytes, r->source.size));
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  while (!st && sp_wire_next(&fields, &field)) {
    const bool comment = field.number == SP_PPROF_FIELD_COMMENT;
    const bool message = field.number <= SP_PPROF_FIELD_TEXT ||
                         field.number == SP_PPROF_FIELD_PERIOD_TYPE;

    if (field.number >= SP_PPROF_FIELD_COUNT)
      continue;
    if (!comment && (field.type == SP_WIRE_BYTES) != message)
      return sp_fail(SPANPROF_ERR_FORMAT, "is not a pprof profile");
    /* This is an upper bound, because packed comments have at least one byte
     * each. */
    r->counts[field.number] +=
        comment && field.type == SP_WIRE_BYTES ? field.bytes.size : 1;
    if (field.type != SP_WIRE_BYTES)
      st = reader_read_number(r, &field);
  }
  if (!st && (fields.fault || !r->counts[SP_PPROF_FIELD_SAMPLE_TYPE]))
    return sp_fail(SPANPROF_ERR_FORMAT, "is not a pprof profile");
  if (r->head_only)
    r->counts[SP_PPROF_FIELD_SAMPLE] = r->counts[SP_PPROF_FIELD_MAPPING] =
        r->counts[SP_PPROF_FIELD_LOCATION] =
            r->counts[SP_PPROF_FIELD_FUNCTION] = 0;
  return st;
}

/* Allocate the arrays, which never move. */
static spanprof_status reader_make_arrays(reader *r) {
  sp_pprof *profile = r->profile;
  const size_t *counts = r->counts;

  profile->types = r->types = sp_pprof_source_new(
      &r->source, counts[SP_PPROF_FIELD_SAMPLE_TYPE], sizeof *r->types);
  profile->samples = r->samples = sp_pprof_source_new(
      &r->source, counts[SP_PPROF_FIELD_SAMPLE], sizeof *r->samples);
  profile->comments = r->comments = sp_pprof_source_new(
      &r->source, counts[SP_PPROF_FIELD_COMMENT], sizeof *r->comments);
  if (!r->types || !r->samples || !r->comments)
    return sp_pprof_source_memory(&r->source);
  return sp_pprof_table_init(&r->table, profile, &r->source, counts);
}

/* Read the messages in an order such that each one follows the messages that it
 * refers to. */
static spanprof_status reader_fill(reader *r) {
  static const struct {
    uint32_t field;
    sp_pprof_visit read;
  } steps[] = {
      {SP_PPROF_FIELD_SAMPLE_TYPE, reader_read_type},
      {SP_PPROF_FIELD_PERIOD_TYPE, reader_read_period_type},
      {SP_PPROF_FIELD_COMMENT, reader_read_comment},
  };
  spanprof_status st =
      sp_pprof_source_texts(&r->source, r->counts[SP_PPROF_FIELD_TEXT]);
  const char *default_type = "";
  uint32_t found;
  size_t i;

  r->profile->period_type = (sp_pprof_type){"", ""};
  for (i = 0; !st && i < SP_COUNT_OF(steps); i++)
    st = sp_pprof_source_each(&r->source, steps[i].field, steps[i].read, r);
  if (!st && !r->head_only)
    st = sp_pprof_table_fill(&r->table);
  if (!st && !r->head_only)
    st = sp_pprof_source_each(&r->source, SP_PPROF_FIELD_SAMPLE,
                              reader_read_sample, r);
  if (!st)
    st = sp_pprof_source_text(&r->source, r->default_type, &default_type);
  if (st)
    return st;
  /* If no default type is named, it is the last one, as in go tool pprof. */
  found = sp_pprof_type_find(r->profile, default_type);
  r->profile->default_type =
      found == SP_PPROF_NONE ? (uint32_t)r->profile->type_count - 1 : found;
  return SPANPROF_OK;
}

static spanprof_status reader_read(reader_whole *whole, const void *bytes,
                                   size_t size, bool head_only) {
  const sp_mem *mem = whole->arena.mem;
  reader r = {.profile = &whole->profile, .head_only = head_only};
  spanprof_status st;

  sp_pprof_source_init(&r.source, bytes, size, &whole->arena);
  st = reader_count(&r);
  if (!st)
    st = reader_make_arrays(&r);
  if (!st)
    st = reader_fill(&r);
  sp_pprof_table_dispose(&r.table, mem);
  sp_pprof_source_dispose(&r.source);
  return st;
}

uint32_t sp_pprof_type_find(const sp_pprof *profile, const char *type) {
  size_t i;

  for (i = 0; i < profile->type_count; i++)
    if (!strcmp(profile->types[i].type, type))
      return (uint32_t)i;
  return SP_PPROF_NONE;
}

sp_pprof *sp_pprof_new(const sp_mem *mem, sp_arena **arena) {
  reader_whole *whole = sp_mem_zero(mem, sizeof *whole);

  if (!whole)
    return NULL;
  sp_arena_init(&whole->arena, mem, SP_PPROF_MEMORY_MAX);
  *arena = &whole->arena;
  return &whole->profile;
}

static spanprof_status reader_open(sp_pprof **out, const sp_mem *mem,
                                   const void *bytes, size_t size,
                                   size_t unpacked_max, bool head_only) {
  sp_arena *arena = NULL;
  sp_pprof *profile = NULL;
  spanprof_status st = SPANPROF_OK;
  sp_buffer raw;

  *out = NULL;
  sp_buffer_init(&raw, mem);
  if (size == 0)
    return sp_fail(SPANPROF_ERR_FORMAT, "is empty");
  if (sp_gunzip_is(bytes, size)) {
    st = sp_gunzip(&raw, bytes, size, unpacked_max);
    bytes = raw.data;
    size = raw.size;
  } else if (size > unpacked_max) {
    st = sp_fail(SPANPROF_ERR_LIMIT, "is larger than %zu MiB",
                 unpacked_max >> 20);
  }
  if (!st && !(profile = sp_pprof_new(mem, &arena)))
    st = SPANPROF_ERR_NOMEM;
  if (!st)
    st = reader_read((reader_whole *)profile, bytes, size, head_only);
  sp_buffer_dispose(&raw);
  if (st)
    sp_pprof_free(profile);
  else
    *out = profile;
  return st;
}

spanprof_status sp_pprof_read(sp_pprof **out, const sp_mem *mem,
                              const void *bytes, size_t size) {
  return reader_open(out, mem, bytes, size, SP_PPROF_UNPACKED_MAX, false);
}

spanprof_status sp_pprof_read_head(sp_pprof **out, const sp_mem *mem,
                                   const void *bytes, size_t size) {
  return reader_open(out, mem, bytes, size, SP_PPROF_HEAD_UNPACKED_MAX, true);
}

void sp_pprof_free(sp_pprof *profile) {
  reader_whole *whole = (reader_whole *)profile;

  if (!whole)
    return;
  sp_arena_dispose(&whole->arena);
  sp_mem_free(whole->arena.mem, whole);
}

const char *sp_pprof_label_text(const sp_pprof_sample *sample,
                                const char *key) {
  size_t i = sample->label_count;

  while (i-- > 0)
    if (sample->labels[i].text && !strcmp(sample->labels[i].key, key))
      return sample->labels[i].text;
  return NULL;
}
