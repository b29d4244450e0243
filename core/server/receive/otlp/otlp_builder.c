#include "otlp_builder.h"

#include <inttypes.h>

/* Fields of Location, Line, Function and Mapping. */
enum {
  OTLP_LOCATION_MAPPING = 1,
  OTLP_LOCATION_LINES = 3,
  OTLP_MAPPING_FILE = 4
};

typedef struct otlp_line {
  uint64_t function;
  int64_t line;
} otlp_line;

static const sp_wire_scalar otlp_line_fields[] = {
    {1, offsetof(otlp_line, function), "function_index"},
    {2, offsetof(otlp_line, line), "line"}};

typedef struct otlp_function {
  uint64_t name;
  uint64_t system_name;
  uint64_t file;
  int64_t start_line;
} otlp_function;

static const sp_wire_scalar otlp_function_fields[] = {
    {1, offsetof(otlp_function, name), "name_strindex"},
    {2, offsetof(otlp_function, system_name), "system_name_strindex"},
    {3, offsetof(otlp_function, file), "filename_strindex"},
    {4, offsetof(otlp_function, start_line), "start_line"}};

typedef struct otlp_mapping {
  uint64_t file;
} otlp_mapping;

static const sp_wire_scalar otlp_mapping_fields[] = {
    {OTLP_MAPPING_FILE, offsetof(otlp_mapping, file), "filename_strindex"}};

void sp_otlp_builder_init(sp_otlp_builder *builder,
                          const sp_otlp_tables *tables, sp_raw_profile *raw,
                          sp_refusal *refusal) {
  memset(builder, 0, sizeof *builder);
  builder->tables = tables;
  builder->raw = raw;
  builder->refusal = refusal;
}

static void otlp_map_dispose(sp_otlp_map *map, const sp_mem *mem) {
  sp_index_dispose(&map->index, mem);
}

void sp_otlp_builder_dispose(sp_otlp_builder *builder) {
  const sp_mem *mem = builder->tables->arena->mem;

  otlp_map_dispose(&builder->mappings, mem);
  otlp_map_dispose(&builder->locations, mem);
  otlp_map_dispose(&builder->functions, mem);
  otlp_map_dispose(&builder->stacks, mem);
}

/* Reserve memory for one more item of an array in the arena, which limits the
 * memory. */
static spanprof_status otlp_grow(sp_otlp_builder *builder, void *array_of,
                                 size_t *capacity, size_t count, size_t item) {
  const size_t needed = *capacity ? 2 * *capacity : 16;
  spanprof_status st;
  void *old, *grown;

  if (count < *capacity)
    return SPANPROF_OK;
  st = sp_raw_new(builder->tables->arena, needed, item, &grown,
                  builder->refusal);
  if (st)
    return st;
  memcpy(&old, array_of, sizeof old);
  if (count)
    memcpy(grown, old, count * item);
  memcpy(array_of, &grown, sizeof grown);
  *capacity = needed;
  return SPANPROF_OK;
}

static uint64_t otlp_hash(uint64_t key) {
  return sp_hash_mix(SP_HASH_SEED, key);
}

/* Get the index of a key. If the map does not have the key, add it and set
 * *is_new. */
static spanprof_status otlp_map_add(sp_otlp_builder *builder, sp_otlp_map *map,
                                    uint64_t key, uint32_t *out, bool *is_new) {
  const sp_mem *mem = builder->tables->arena->mem;
  spanprof_status st;
  uint32_t i, at;

  *is_new = false;
  for (i = sp_index_first(&map->index, otlp_hash(key), &at); i != SP_INDEX_NONE;
       i = sp_index_next(&map->index, otlp_hash(key), &at))
    if (map->keys[i] == key) {
      *out = i;
      return SPANPROF_OK;
    }
  st = otlp_grow(builder, &map->keys, &map->capacity, map->count,
                 sizeof *map->keys);
  if (!st)
    st = sp_index_reserve(&map->index, mem);
  if (st)
    return st;
  *is_new = true;
  *out = (uint32_t)map->count;
  sp_index_add(&map->index, otlp_hash(key), *out);
  map->keys[map->count++] = key;
  return SPANPROF_OK;
}

spanprof_status sp_otlp_builder_text(sp_otlp_builder *builder, sp_view text,
                                     int64_t *out) {
  sp_raw_profile *raw = builder->raw;
  spanprof_status st;

  if (!text.size && raw->text_count) {
    *out = 0;
    return SPANPROF_OK;
  }
  st = otlp_grow(builder, &raw->texts, &builder->text_capacity, raw->text_count,
                 sizeof *raw->texts);
  if (st)
    return st;
  *out = (int64_t)raw->text_count;
  raw->texts[raw->text_count++] = text;
  raw->bytes += text.size + 2;
  return SPANPROF_OK;
}

static spanprof_status otlp_out(sp_otlp_builder *builder, const char *what,
                                uint64_t number) {
  return sp_refuse(builder->refusal, SP_REFUSAL_BROKEN,
                   "failed to convert otel profile: could not access %s: index "
                   "%" PRId64 " out of bounds",
                   what, (int64_t)number);
}

static spanprof_status otlp_text_at(sp_otlp_builder *builder, const char *what,
                                    uint64_t number, int64_t *out) {
  sp_view text;

  if (!sp_otlp_tables_at(builder->tables, SP_OTLP_TEXTS, number, &text))
    return otlp_out(builder, what, number);
  return sp_otlp_builder_text(builder, text, out);
}

static spanprof_status otlp_function_new(sp_otlp_builder *builder,
                                         uint64_t number) {
  sp_raw_profile *raw = builder->raw;
  otlp_function function = {0};
  sp_raw_function *out;
  spanprof_status st;
  sp_view message;
  sp_wire wire = {0};

  if (!sp_otlp_tables_at(builder->tables, SP_OTLP_FUNCTIONS, number, &message))
    return otlp_out(builder, "function", number);
  if (!sp_wire_scalars(&wire, message, otlp_function_fields,
                       SP_COUNT_OF(otlp_function_fields), &function))
    return sp_wire_status(&wire, "Function", builder->refusal);
  st = otlp_grow(builder, &raw->functions, &builder->function_capacity,
                 raw->function_count, sizeof *raw->functions);
  if (st)
    return st;
  out = &raw->functions[raw->function_count++];
  out->id = raw->function_count;
  out->start_line = function.start_line;
  raw->bytes += 16;
  st = otlp_text_at(builder, "function name string", function.name, &out->name);
  if (!st)
    st = otlp_text_at(builder, "function system name string",
                      function.system_name, &out->system_name);
  if (!st)
    st = otlp_text_at(builder, "function file name string", function.file,
                      &out->file);
  return st;
}

static spanprof_status otlp_line_new(sp_otlp_builder *builder, sp_view message,
                                     sp_raw_line *out) {
  otlp_line line = {0};
  sp_wire wire = {0};
  spanprof_status st;
  uint32_t place;
  bool is_new;

  if (!sp_wire_scalars(&wire, message, otlp_line_fields,
                       SP_COUNT_OF(otlp_line_fields), &line))
    return sp_wire_status(&wire, "Line", builder->refusal);
  st = otlp_map_add(builder, &builder->functions, line.function, &place,
                    &is_new);
  if (!st && is_new)
    st = otlp_function_new(builder, line.function);
  *out = (sp_raw_line){(uint64_t)place + 1, line.line};
  return st;
}

static spanprof_status otlp_mapping_new(sp_otlp_builder *builder,
                                        uint64_t number) {
  sp_raw_profile *raw = builder->raw;
  otlp_mapping mapping = {0};
  sp_raw_mapping *out;
  spanprof_status st;
  sp_wire wire = {0};
  sp_view message;

  if (!sp_otlp_tables_at(builder->tables, SP_OTLP_MAPPINGS, number, &message))
    return otlp_out(builder, "mapping", number);
  if (!sp_wire_scalars(&wire, message, otlp_mapping_fields, 1, &mapping))
    return sp_wire_status(&wire, "Mapping", builder->refusal);
  st = otlp_grow(builder, &raw->mappings, &builder->mapping_capacity,
                 raw->mapping_count, sizeof *raw->mappings);
  if (st)
    return st;
  out = &raw->mappings[raw->mapping_count++];
  out->id = raw->mapping_count;
  raw->bytes += 8;
  return otlp_text_at(builder, "mapping file name string", mapping.file,
                      &out->file);
}

static spanprof_status otlp_mapping_id(sp_otlp_builder *builder,
                                       uint64_t number, uint64_t *out) {
  uint32_t place;
  bool is_new;
  spanprof_status st =
      otlp_map_add(builder, &builder->mappings, number, &place, &is_new);

  if (!st && is_new)
    st = otlp_mapping_new(builder, number);
  if (!st)
    *out = (uint64_t)place + 1;
  return st;
}

static spanprof_status otlp_location_lines(sp_otlp_builder *builder,
                                           sp_view message,
                                           sp_raw_location *out) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;
  size_t count = 0;

  while (sp_wire_next(&wire, &field))
    count += field.number == OTLP_LOCATION_LINES;
  st = sp_raw_new(builder->tables->arena, count, sizeof *out->lines,
                  &out->lines, builder->refusal);
  wire = sp_wire_of(message);
  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != OTLP_LOCATION_LINES)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "lines"))
      break;
    st = otlp_line_new(builder, field.bytes, &out->lines[out->line_count++]);
  }
  return st ? st : sp_wire_status(&wire, "Location", builder->refusal);
}

static spanprof_status otlp_location_new(sp_otlp_builder *builder,
                                         uint64_t number) {
  sp_raw_profile *raw = builder->raw;
  sp_raw_location location = {0};
  uint64_t mapping = 0;
  spanprof_status st;
  sp_wire_field field;
  sp_view message;
  sp_wire wire;

  if (!sp_otlp_tables_at(builder->tables, SP_OTLP_LOCATIONS, number, &message))
    return otlp_out(builder, "location", number);
  wire = sp_wire_of(message);
  while (sp_wire_next(&wire, &field))
    if (field.number == OTLP_LOCATION_MAPPING)
      mapping = field.value;
  st = otlp_mapping_id(builder, mapping, &location.mapping);
  if (!st)
    st = otlp_location_lines(builder, message, &location);
  if (!st)
    st = otlp_grow(builder, &raw->locations, &builder->location_capacity,
                   raw->location_count, sizeof *raw->locations);
  if (st)
    return st;
  location.id = raw->location_count + 1;
  raw->locations[raw->location_count++] = location;
  raw->bytes += 12;
  return SPANPROF_OK;
}

/* Read the location ids of a stack that is used for the first time. */
static spanprof_status otlp_stack_new(sp_otlp_builder *builder, sp_view message,
                                      sp_otlp_stack *out) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;
  uint32_t place;
  size_t count = 0, i;
  bool is_new;

  while (sp_wire_next(&wire, &field))
    if (field.number == 1 &&
        !sp_wire_count(&wire, &field, "location_indices", &count))
      break;
  st = sp_wire_status(&wire, "Stack", builder->refusal);
  if (!st)
    st = sp_raw_new(builder->tables->arena, count, sizeof *out->locations,
                    &out->locations, builder->refusal);
  wire = sp_wire_of(message);
  while (!st && sp_wire_next(&wire, &field))
    if (field.number == 1 &&
        !sp_wire_numbers(&wire, &field, out->locations, &out->count))
      break;
  if (!st)
    st = sp_wire_status(&wire, "Stack", builder->refusal);
  for (i = 0; !st && i < out->count; i++) {
    st = otlp_map_add(builder, &builder->locations, out->locations[i], &place,
                      &is_new);
    if (!st && is_new)
      st = otlp_location_new(builder, out->locations[i]);
    out->locations[i] = (uint64_t)place + 1;
  }
  return st;
}

spanprof_status sp_otlp_builder_stack(sp_otlp_builder *builder, uint64_t number,
                                      sp_otlp_stack *out) {
  sp_otlp_stack stack = {0};
  spanprof_status st;
  uint32_t place;
  sp_view message;
  bool is_new;

  if (!sp_otlp_tables_at(builder->tables, SP_OTLP_STACKS, number, &message))
    return sp_refuse(builder->refusal, SP_REFUSAL_BROKEN,
                     "failed to convert otel profile: invalid stack index: "
                     "%" PRId64,
                     (int64_t)number);
  st = otlp_map_add(builder, &builder->stacks, number, &place, &is_new);
  if (!st && is_new)
    st = otlp_grow(builder, &builder->stack_items, &builder->stack_capacity,
                   place, sizeof stack);
  if (!st && is_new) {
    st = otlp_stack_new(builder, message, &stack);
    builder->stack_items[place] = stack;
  }
  if (!st)
    *out = builder->stack_items[place];
  return st;
}
