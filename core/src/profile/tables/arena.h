/* Memory that is freed all at once, up to a limit. */
#ifndef SP_ARENA_H
#define SP_ARENA_H

#include "util/memory/mem.h"

typedef struct sp_arena_chunk sp_arena_chunk;

typedef struct sp_arena {
  const sp_mem *mem;
  sp_arena_chunk *chunks; /* the newest first */
  size_t used;            /* of the newest */
  size_t bytes;           /* of all */
  size_t bytes_max;
  spanprof_status st; /* of the last request that failed */
} sp_arena;

void sp_arena_init(sp_arena *arena, const sp_mem *mem, size_t bytes_max);
void sp_arena_dispose(sp_arena *arena);

/* Forget everything, keep one chunk. */
void sp_arena_clear(sp_arena *arena);

/* `count` items of `item` bytes, aligned to 8, all zero. NULL: arena->st says
 * whether SPANPROF_ERR_NOMEM or SPANPROF_ERR_LIMIT. */
void *sp_arena_new(sp_arena *arena, size_t count, size_t item);

#endif
