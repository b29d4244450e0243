#include "pprof_part.h"

#include "pprof_fields.h"
#include "pprof_sample.h"
#include "wire.h"

#define PART_PREFIX_MAX 16

void sp_pprof_part_init(sp_pprof_part *part, const sp_mem *mem,
                        const sp_name_table *names,
                        const sp_frame_table *frames) {
  memset(part, 0, sizeof *part);
  part->mem = mem;
  part->names = names;
  part->frames = frames;
  sp_name_table_init(&part->own_names, mem);
  sp_buffer_init(&part->pending, mem);
}

void sp_pprof_part_dispose(sp_pprof_part *part) {
  sp_mem_free(part->mem, part->name_texts.of);
  sp_mem_free(part->mem, part->functions.of);
  sp_mem_free(part->mem, part->mappings.of);
  sp_mem_free(part->mem, part->locations.of);
  sp_mem_free(part->mem, part->own_texts.of);
  sp_name_table_dispose(&part->own_names);
  sp_buffer_dispose(&part->pending);
  sp_pprof_part_init(part, part->mem, part->names, part->frames);
}

static void dense_clear(sp_dense *dense) {
  if (dense->capacity)
    memset(dense->of, 0, dense->capacity * sizeof *dense->of);
}

/* Find the entry of the global number `number`. **out is 0 if the object is not
 * in the part yet. */
static spanprof_status dense_at(sp_dense *dense, const sp_mem *mem,
                                uint32_t number, uint32_t **out) {
  const size_t before = dense->capacity;

  if (SP_UNLIKELY(number >= before)) {
    spanprof_status st =
        sp_mem_reserve(mem, (void **)&dense->of, &dense->capacity,
                       (size_t)number + 1, sizeof *dense->of);

    if (st)
      return st;
    memset(dense->of + before, 0,
           (dense->capacity - before) * sizeof *dense->of);
  }
  *out = &dense->of[number];
  return SPANPROF_OK;
}

/* Reserve capacity for `size` bytes and their protobuf prefix. Returns NULL if
 * there is no memory. */
static uint8_t *part_reserve(sp_pprof_part *part, size_t size) {
  sp_buffer *pending = &part->pending;

  if (sp_mem_reserve(part->mem, (void **)&pending->data, &pending->capacity,
                     pending->size + size + PART_PREFIX_MAX, 1))
    return NULL;
  return (uint8_t *)pending->data + pending->size;
}

static uint8_t *part_put_prefix(uint8_t *p, uint32_t field, size_t size) {
  p = sp_varint_put(p, (field << 3) | SP_WIRE_BYTES);
  return sp_varint_put(p, size);
}

spanprof_status sp_pprof_part_message(sp_pprof_part *part, uint32_t field,
                                      const ProtobufCMessage *message) {
  const size_t size = protobuf_c_message_get_packed_size(message);
  uint8_t *p = part_reserve(part, size);

  if (!p)
    return SPANPROF_ERR_NOMEM;
  if (field)
    p = part_put_prefix(p, field, size);
  p += protobuf_c_message_pack(message, p);
  part->pending.size = (size_t)(p - (uint8_t *)part->pending.data);
  return SPANPROF_OK;
}

spanprof_status
sp_pprof_part_sample(sp_pprof_part *part,
                     const Perftools__Profiles__Sample *sample) {
  const size_t size = sp_pprof_sample_size(sample);
  uint8_t *p = part_reserve(part, size);

  if (!p)
    return SPANPROF_ERR_NOMEM;
  p = sp_pprof_sample_put(part_put_prefix(p, SP_PPROF_FIELD_SAMPLE, size),
                          sample);
  part->pending.size = (size_t)(p - (uint8_t *)part->pending.data);
  return SPANPROF_OK;
}

static spanprof_status part_write_text(sp_pprof_part *part, const char *text,
                                       size_t bytes) {
  uint8_t *p = part_reserve(part, bytes);

  if (!p)
    return SPANPROF_ERR_NOMEM;
  p = part_put_prefix(p, SP_PPROF_FIELD_TEXT, bytes);
  memcpy(p, text, bytes);
  p += bytes;
  part->pending.size = (size_t)(p - (uint8_t *)part->pending.data);
  part->text_count++;
  return SPANPROF_OK;
}

spanprof_status sp_pprof_part_name(sp_pprof_part *part, uint32_t name,
                                   int64_t *out) {
  spanprof_status st;
  uint32_t *at;

  *out = 0;
  if (name == 0)
    return SPANPROF_OK;
  st = dense_at(&part->name_texts, part->mem, name, &at);
  if (!st && !*at) {
    size_t bytes;
    const char *text = sp_name_table_get(part->names, name, &bytes);

    *at = part->text_count;
    st = part_write_text(part, text, bytes);
  }
  if (!st)
    *out = *at;
  return st;
}

spanprof_status sp_pprof_part_text(sp_pprof_part *part, const char *text,
                                   size_t bytes, int64_t *out) {
  spanprof_status st;
  uint32_t name, *at;

  *out = 0;
  st = sp_name_table_clean(&part->own_names, text, bytes, SP_NAME_BYTES_MAX,
                           &name);
  if (st || name == 0)
    return st;
  st = dense_at(&part->own_texts, part->mem, name, &at);
  if (!st && !*at) {
    text = sp_name_table_get(&part->own_names, name, &bytes);
    *at = part->text_count;
    st = part_write_text(part, text, bytes);
  }
  if (!st)
    *out = *at;
  return st;
}

spanprof_status sp_pprof_part_id(sp_pprof_part *part, const char *id,
                                 size_t bytes, int64_t *out) {
  *out = bytes ? part->text_count : 0;
  return bytes ? part_write_text(part, id, bytes) : SPANPROF_OK;
}

static spanprof_status part_function(sp_pprof_part *part, uint32_t number,
                                     uint64_t *out) {
  const sp_function *known = &part->frames->functions[number - 1];
  Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
  spanprof_status st;
  uint32_t *at;

  st = dense_at(&part->functions, part->mem, number, &at);
  if (!st && !*at) {
    *at = ++part->function_count;
    function.id = *at;
    function.start_line = known->start_line > 0 ? known->start_line : 0;
    st = sp_pprof_part_name(part, known->name, &function.name);
    if (!st)
      st = sp_pprof_part_name(part, known->file, &function.filename);
    if (!st)
      st = sp_pprof_part_message(part, SP_PPROF_FIELD_FUNCTION, &function.base);
  }
  if (!st)
    *out = *at;
  return st;
}

/* Every location has a function, so every mapping sets has_functions. Therefore
 * neither pprof nor Pyroscope resolves symbols again. */
static spanprof_status part_mapping(sp_pprof_part *part, uint32_t number,
                                    uint64_t *out) {
  const sp_frame_mapping *known = &part->frames->mappings[number - 1];
  Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
  spanprof_status st;
  uint32_t *at;

  st = dense_at(&part->mappings, part->mem, number, &at);
  if (!st && !*at) {
    *at = ++part->mapping_count;
    mapping.id = *at;
    mapping.memory_start = known->start;
    mapping.memory_limit = known->limit;
    mapping.file_offset = known->file_offset;
    mapping.has_functions = 1;
    st = sp_pprof_part_name(part, known->path, &mapping.filename);
    if (!st)
      st = sp_pprof_part_name(part, known->build_id, &mapping.build_id);
    if (!st)
      st = sp_pprof_part_message(part, SP_PPROF_FIELD_MAPPING, &mapping.base);
  }
  if (!st)
    *out = *at;
  return st;
}

static spanprof_status part_location_write(sp_pprof_part *part,
                                           const sp_location *known,
                                           uint32_t id) {
  Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
  Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;
  Perftools__Profiles__Line *lines[1] = {&line};
  spanprof_status st;

  st = part_function(part, sp_frame_table_function(part->frames, known),
                     &line.function_id);
  if (!st && known->mapping)
    st = part_mapping(part, known->mapping, &location.mapping_id);
  if (st)
    return st;
  location.id = id;
  if (known->frame.kind == SP_FRAME_NATIVE)
    location.address = known->frame.code;
  else if (known->frame.kind == SP_FRAME_MODULE && known->mapping)
    location.address = part->frames->mappings[known->mapping - 1].start;
  line.line = known->line;
  location.n_line = SP_COUNT_OF(lines);
  location.line = lines;
  return sp_pprof_part_message(part, SP_PPROF_FIELD_LOCATION, &location.base);
}

spanprof_status sp_pprof_part_location(sp_pprof_part *part, uint32_t frame,
                                       uint64_t *out) {
  uint32_t *at;
  spanprof_status st = dense_at(&part->locations, part->mem, frame, &at);

  if (SP_UNLIKELY(!st && !*at)) {
    *at = ++part->location_count;
    st = part_location_write(part, &part->frames->locations[frame], *at);
  }
  if (!st)
    *out = *at;
  return st;
}

spanprof_status sp_pprof_part_begin(sp_pprof_part *part) {
  spanprof_status st;
  uint64_t first;

  dense_clear(&part->name_texts);
  dense_clear(&part->functions);
  dense_clear(&part->mappings);
  dense_clear(&part->locations);
  dense_clear(&part->own_texts);
  sp_name_table_clear(&part->own_names);
  sp_buffer_clear(&part->pending);
  part->text_count = part->function_count = 0;
  part->mapping_count = part->location_count = 0;
  st = part_write_text(part, "", 0);
  if (!st && part->frames->main_mapping)
    st = part_mapping(part, part->frames->main_mapping, &first);
  return st;
}
