/* The bytes of a profile while it is read: its top-level fields, texts, ids and
 * memory. */
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
  sp_arena *kept;   /* memory of the result */
  sp_arena scratch; /* memory of the last unpacked message */
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

/* Set a message that names the fault in the profile, and return
 * SPANPROF_ERR_FORMAT. */
spanprof_status sp_pprof_source_broken(const char *what);

/* Allocate `count` zeroed items in `kept`. If it returns NULL,
 * sp_pprof_source_memory() returns the reason. */
void *sp_pprof_source_new(sp_pprof_source *source, size_t count, size_t item);

/* Returns the reason why the last allocation failed: SPANPROF_ERR_NOMEM or
 * SPANPROF_ERR_LIMIT. */
spanprof_status sp_pprof_source_memory(const sp_pprof_source *source);

/* Call `visit` for every top-level field with this number until it fails. */
spanprof_status sp_pprof_source_each(const sp_pprof_source *source,
                                     uint32_t number, sp_pprof_visit visit,
                                     void *data);

/* Unpack the message with the structure `type`. The result is valid until the
 * next call. If it is NULL, *st is the reason. */
const void *sp_pprof_source_unpack(sp_pprof_source *source,
                                   const sp_wire_field *field,
                                   const ProtobufCMessageDescriptor *type,
                                   spanprof_status *st);

/* Read the string table, which has `count` texts. */
spanprof_status sp_pprof_source_texts(sp_pprof_source *source, size_t count);

spanprof_status sp_pprof_source_text(const sp_pprof_source *source,
                                     int64_t index, const char **out);

/* Reserve capacity for `count` ids; add the next id; find the index of an id,
 * which is SP_INDEX_NONE if the id is unknown. */
spanprof_status sp_pprof_ids_init(sp_pprof_ids *ids, sp_pprof_source *source,
                                  size_t count);
void sp_pprof_ids_dispose(sp_pprof_ids *ids, const sp_mem *mem);
spanprof_status sp_pprof_ids_add(sp_pprof_ids *ids, const sp_mem *mem,
                                 uint64_t id);
uint32_t sp_pprof_ids_find(const sp_pprof_ids *ids, uint64_t id);

#endif
