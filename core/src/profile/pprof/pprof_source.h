/* The bytes of one profile while they are read: its top-level fields, texts,
 * ids and memory. */
#ifndef SP_PPROF_SOURCE_H
#define SP_PPROF_SOURCE_H

#include <profile.pb-c.h>

#include "pprof_fields.h"
#include "profile/tables/arena.h"
#include "util/memory/hash_index.h"
#include "wire.h"

/* Ids of locations, functions or mappings, in the order of their arrays. */
typedef struct sp_pprof_ids {
  uint64_t *ids;
  uint32_t count;
  sp_index index;
} sp_pprof_ids;

typedef struct sp_pprof_source {
  const void *bytes;
  size_t size;
  sp_arena *kept;   /* lives as long as what is read */
  sp_arena scratch; /* of the message unpacked last */
  ProtobufCAllocator allocator;
  const char **texts;
  size_t text_count;
} sp_pprof_source;

typedef spanprof_status (*sp_pprof_visit)(void *data,
                                          const sp_wire_field *field);

/* `bytes` and `kept` outlive the source. */
void sp_pprof_source_init(sp_pprof_source *source, const void *bytes,
                          size_t size, sp_arena *kept);
void sp_pprof_source_dispose(sp_pprof_source *source);

/* SPANPROF_ERR_FORMAT with a sentence. */
spanprof_status sp_pprof_source_broken(const char *what);

/* Zeroed items of `kept`. NULL: sp_pprof_source_memory() says why. */
void *sp_pprof_source_new(sp_pprof_source *source, size_t count, size_t item);

/* What made the last of these fail: SPANPROF_ERR_NOMEM, SPANPROF_ERR_LIMIT. */
spanprof_status sp_pprof_source_memory(const sp_pprof_source *source);

/* Visit every top-level field of this number, until one fails. */
spanprof_status sp_pprof_source_each(const sp_pprof_source *source,
                                     uint32_t number, sp_pprof_visit visit,
                                     void *data);

/* The message, of the structure that `type` describes, valid until the next
 * call. NULL: *st says why. */
const void *sp_pprof_source_unpack(sp_pprof_source *source,
                                   const sp_wire_field *field,
                                   const ProtobufCMessageDescriptor *type,
                                   spanprof_status *st);

/* Read the string table, of `count` texts. */
spanprof_status sp_pprof_source_texts(sp_pprof_source *source, size_t count);

spanprof_status sp_pprof_source_text(const sp_pprof_source *source,
                                     int64_t index, const char **out);

/* Make room for `count` ids; add the next one; find the number of one
 * (SP_INDEX_NONE: it is not there). */
spanprof_status sp_pprof_ids_init(sp_pprof_ids *ids, sp_pprof_source *source,
                                  size_t count);
void sp_pprof_ids_dispose(sp_pprof_ids *ids, const sp_mem *mem);
spanprof_status sp_pprof_ids_add(sp_pprof_ids *ids, const sp_mem *mem,
                                 uint64_t id);
uint32_t sp_pprof_ids_find(const sp_pprof_ids *ids, uint64_t id);

#endif
