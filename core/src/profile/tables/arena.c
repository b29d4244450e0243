#include "arena.h"

#include <string.h>

#define ARENA_CHUNK_BYTES ((size_t)64 << 10)
#define ARENA_ALIGN       ((size_t)8)

struct sp_arena_chunk {
  sp_arena_chunk *next;
  size_t bytes; /* size of the block, without this header */
};

void sp_arena_init(sp_arena *arena, const sp_mem *mem, size_t bytes_max) {
  memset(arena, 0, sizeof *arena);
  arena->mem = mem;
  arena->bytes_max = bytes_max;
}

static void arena_free_from(sp_arena *arena, sp_arena_chunk *chunk) {
  while (chunk) {
    sp_arena_chunk *next = chunk->next;

    arena->bytes -= chunk->bytes;
    sp_mem_free(arena->mem, chunk);
    chunk = next;
  }
}

void sp_arena_dispose(sp_arena *arena) {
  arena_free_from(arena, arena->chunks);
  sp_arena_init(arena, arena->mem, arena->bytes_max);
}

void sp_arena_clear(sp_arena *arena) {
  if (arena->chunks) {
    arena_free_from(arena, arena->chunks->next);
    arena->chunks->next = NULL;
  }
  arena->used = 0;
}

static spanprof_status arena_grow(sp_arena *arena, size_t needed) {
  const size_t bytes = needed > ARENA_CHUNK_BYTES ? needed : ARENA_CHUNK_BYTES;
  sp_arena_chunk *chunk;

  if (bytes > arena->bytes_max - arena->bytes)
    return SPANPROF_ERR_LIMIT;
  chunk = sp_mem_new(arena->mem, sizeof *chunk + bytes);
  if (!chunk)
    return SPANPROF_ERR_NOMEM;
  chunk->next = arena->chunks;
  chunk->bytes = bytes;
  arena->chunks = chunk;
  arena->bytes += bytes;
  arena->used = 0;
  return SPANPROF_OK;
}

void *sp_arena_new(sp_arena *arena, size_t count, size_t item) {
  spanprof_status st;
  size_t bytes;
  void *p;

  if (count > (SIZE_MAX - ARENA_ALIGN) / (item ? item : 1)) {
    arena->st = SPANPROF_ERR_LIMIT;
    return NULL;
  }
  bytes = (count * item + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
  if (!arena->chunks || bytes > arena->chunks->bytes - arena->used) {
    st = arena_grow(arena, bytes);
    if (st) {
      arena->st = st;
      return NULL;
    }
  }
  p = (char *)(arena->chunks + 1) + arena->used;
  arena->used += bytes;
  memset(p, 0, bytes);
  return p;
}
