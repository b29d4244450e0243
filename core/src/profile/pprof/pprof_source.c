#include "pprof_source.h"

#include <inttypes.h>

#include "pprof_reader.h"
#include "util/system/status.h"
#include "util/text/utf8.h"

static void *source_alloc(void *scratch, size_t bytes) {
  return sp_arena_new(scratch, bytes, 1);
}

/* Does nothing: the arena frees all blocks together. */
static void source_unalloc(void *scratch, void *p) {
  (void)scratch;
  (void)p;
}

void sp_pprof_source_init(sp_pprof_source *source, const void *bytes,
                          size_t size, sp_arena *kept) {
  memset(source, 0, sizeof *source);
  source->bytes = bytes;
  source->size = size;
  source->kept = kept;
  sp_arena_init(&source->scratch, kept->mem, kept->bytes_max);
  source->allocator =
      (ProtobufCAllocator){source_alloc, source_unalloc, &source->scratch};
}

void sp_pprof_source_dispose(sp_pprof_source *source) {
  sp_arena_dispose(&source->scratch);
}

spanprof_status sp_pprof_source_broken(const char *what) {
  return sp_fail(SPANPROF_ERR_FORMAT, "is a broken pprof profile: %s", what);
}

static spanprof_status source_too_large(spanprof_status st) {
  if (st == SPANPROF_ERR_LIMIT)
    return sp_fail(st, "is a profile that needs more than %zu MiB to read",
                   SP_PPROF_MEMORY_MAX >> 20);
  return st;
}

void *sp_pprof_source_new(sp_pprof_source *source, size_t count, size_t item) {
  return sp_arena_new(source->kept, count, item);
}

spanprof_status sp_pprof_source_memory(const sp_pprof_source *source) {
  return source_too_large(source->kept->st);
}

spanprof_status sp_pprof_source_each(const sp_pprof_source *source,
                                     uint32_t number, sp_pprof_visit visit,
                                     void *data) {
  sp_wire fields = sp_wire_of(sp_view_of(source->bytes, source->size));
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  while (!st && sp_wire_next(&fields, &field))
    if (field.number == number)
      st = visit(data, &field);
  return st;
}

const void *sp_pprof_source_unpack(sp_pprof_source *source,
                                   const sp_wire_field *field,
                                   const ProtobufCMessageDescriptor *type,
                                   spanprof_status *st) {
  const void *message;

  sp_arena_clear(&source->scratch);
  source->scratch.st = SPANPROF_OK;
  message =
      protobuf_c_message_unpack(type, &source->allocator, field->bytes.size,
                                (const uint8_t *)field->bytes.bytes);
  *st = SPANPROF_OK;
  if (!message && source->scratch.st)
    *st = source_too_large(source->scratch.st);
  else if (!message)
    *st = sp_fail(SPANPROF_ERR_FORMAT,
                  "is a broken pprof profile: field %" PRIu32
                  " cannot be decoded",
                  field->number);
  return message;
}

static spanprof_status source_read_text(void *data,
                                        const sp_wire_field *field) {
  sp_pprof_source *source = data;
  char *text;

  if (source->text_count == 0 && field->bytes.size)
    return sp_pprof_source_broken(
        "the first entry of its string table is not empty");
  text = sp_pprof_source_new(source, field->bytes.size + 1, 1);
  if (!text)
    return sp_pprof_source_memory(source);
  sp_utf8_printable(field->bytes.bytes, field->bytes.size, text,
                    field->bytes.size);
  source->texts[source->text_count++] = text;
  return SPANPROF_OK;
}

spanprof_status sp_pprof_source_texts(sp_pprof_source *source, size_t count) {
  source->texts = sp_pprof_source_new(source, count, sizeof *source->texts);
  return source->texts ? sp_pprof_source_each(source, SP_PPROF_FIELD_TEXT,
                                              source_read_text, source)
                       : sp_pprof_source_memory(source);
}

spanprof_status sp_pprof_source_text(const sp_pprof_source *source,
                                     int64_t index, const char **out) {
  *out = "";
  if (index == 0)
    return SPANPROF_OK;
  if (index < 0 || (uint64_t)index >= source->text_count)
    return sp_pprof_source_broken(
        "it refers to an entry that its string table does not have");
  *out = source->texts[index];
  return SPANPROF_OK;
}

static uint64_t source_id_hash(uint64_t id) {
  return sp_hash_mix(SP_HASH_SEED, id);
}

spanprof_status sp_pprof_ids_init(sp_pprof_ids *ids, sp_pprof_source *source,
                                  size_t count) {
  memset(ids, 0, sizeof *ids);
  ids->ids = sp_pprof_source_new(source, count, sizeof *ids->ids);
  return ids->ids ? SPANPROF_OK : sp_pprof_source_memory(source);
}

void sp_pprof_ids_dispose(sp_pprof_ids *ids, const sp_mem *mem) {
  sp_index_dispose(&ids->index, mem);
}

spanprof_status sp_pprof_ids_add(sp_pprof_ids *ids, const sp_mem *mem,
                                 uint64_t id) {
  spanprof_status st;

  if (id == 0)
    return sp_pprof_source_broken("an id is 0");
  if (sp_pprof_ids_find(ids, id) != SP_INDEX_NONE)
    return sp_pprof_source_broken("an id occurs twice");
  /* The index contains only ids that differ from their position plus 1. */
  if (id != (uint64_t)ids->count + 1) {
    st = sp_index_reserve(&ids->index, mem);
    if (st)
      return source_too_large(st);
    sp_index_add(&ids->index, source_id_hash(id), ids->count);
  }
  ids->ids[ids->count++] = id;
  return SPANPROF_OK;
}

uint32_t sp_pprof_ids_find(const sp_pprof_ids *ids, uint64_t id) {
  uint32_t i, at;

  /* Most writers number from 1 without gaps, so the index is rarely needed. */
  if (id - 1 < ids->count && ids->ids[id - 1] == id)
    return (uint32_t)(id - 1);
  for (i = sp_index_first(&ids->index, source_id_hash(id), &at);
       i != SP_INDEX_NONE;
       i = sp_index_next(&ids->index, source_id_hash(id), &at))
    if (ids->ids[i] == id)
      return i;
  return SP_INDEX_NONE;
}
