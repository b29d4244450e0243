#include "text_cache.h"

#include <string.h>

typedef struct sp_cached_text {
  sp_row_id id;
  const char *text;
} sp_cached_text;

void sp_text_cache_init(sp_text_cache *cache, const sp_mem *mem, sqlite3 *db,
                        size_t bytes_max) {
  *cache = (sp_text_cache){.db = db};
  sp_arena_init(&cache->arena, mem, bytes_max);
}

void sp_text_cache_dispose(sp_text_cache *cache) {
  sqlite3_finalize(cache->find);
  sp_index_dispose(&cache->index, cache->arena.mem);
  sp_mem_free(cache->arena.mem, cache->items);
  sp_arena_dispose(&cache->arena);
}

void sp_text_cache_clear(sp_text_cache *cache) {
  sp_index_clear(&cache->index);
  cache->count = 0;
  sp_arena_clear(&cache->arena);
}

static spanprof_status cache_read(sp_text_cache *cache, sp_row_id id,
                                  const char **out) {
  spanprof_status st = sp_database_prepare(cache->db, &cache->find,
                                           "SELECT text FROM text WHERE id=?1");
  size_t size;
  char *copy;
  int code;

  *out = "";
  if (st)
    return st;
  sqlite3_bind_int64(cache->find, 1, (int64_t)id);
  st = sp_database_step(cache->find, &code);
  if (!st && code == SQLITE_ROW) {
    size = (size_t)sqlite3_column_bytes(cache->find, 0);
    copy = sp_arena_new(&cache->arena, size + 1, 1);
    if (copy && size)
      memcpy(copy, sqlite3_column_text(cache->find, 0), size);
    if (copy)
      *out = copy;
    else
      st = cache->arena.st;
  }
  sqlite3_reset(cache->find);
  return st;
}

spanprof_status sp_text_cache_get(sp_text_cache *cache, sp_row_id id,
                                  const char **out) {
  const sp_mem *mem = cache->arena.mem;
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, id);
  uint32_t at, i = sp_index_first(&cache->index, hash, &at);
  spanprof_status st;

  while (i != SP_INDEX_NONE && cache->items[i].id != id)
    i = sp_index_next(&cache->index, hash, &at);
  if (i != SP_INDEX_NONE) {
    *out = cache->items[i].text;
    return SPANPROF_OK;
  }
  st = cache_read(cache, id, out);
  if (!st)
    st = sp_index_reserve(&cache->index, mem);
  if (!st)
    st = sp_mem_reserve(mem, (void **)&cache->items, &cache->capacity,
                        cache->count + 1, sizeof *cache->items);
  if (st)
    return st;
  sp_index_add(&cache->index, hash, (uint32_t)cache->count);
  cache->items[cache->count++] = (sp_cached_text){.id = id, .text = *out};
  return SPANPROF_OK;
}
