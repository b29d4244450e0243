/* A memory arena: blocks that are freed together, with a limit. */
#ifndef SP_ARENA_H
#define SP_ARENA_H

#include "util/memory/mem.h"

typedef struct sp_arena_chunk sp_arena_chunk;

typedef struct sp_arena {
  const sp_mem *mem;
  sp_arena_chunk *chunks; /* newest first */
  size_t used;            /* bytes used in the newest chunk */
  size_t bytes;           /* bytes of all chunks */
  size_t bytes_max;
  spanprof_status st; /* status of the last failed request */
} sp_arena;

void sp_arena_init(sp_arena *arena, const sp_mem *mem, size_t bytes_max);
void sp_arena_dispose(sp_arena *arena);

/* Free all blocks, but keep one chunk. */
void sp_arena_clear(sp_arena *arena);

/* Allocate `count` zeroed items of `item` bytes, aligned to 8. Returns NULL
 * with arena->st set to SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT. */
void *sp_arena_new(sp_arena *arena, size_t count, size_t item);

#endif
