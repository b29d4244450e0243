/* A cache of texts by their ids. A text is read from the file when it is first
 * needed. */
#ifndef SP_TEXT_CACHE_H
#define SP_TEXT_CACHE_H

#include "database.h"
#include "profile/tables/arena.h"
#include "util/memory/hash_index.h"

typedef struct sp_text_cache {
  sqlite3 *db;
  sp_arena arena; /* memory of the texts, and of other data of the cache's
                   * owner */
  sqlite3_stmt *find;
  sp_index index;
  struct sp_cached_text *items;
  size_t count;
  size_t capacity;
} sp_text_cache;

void sp_text_cache_init(sp_text_cache *cache, const sp_mem *mem, sqlite3 *db,
                        size_t bytes_max);
void sp_text_cache_dispose(sp_text_cache *cache);

/* Free all texts, and everything else in the arena. */
void sp_text_cache_clear(sp_text_cache *cache);

/* Get the text of an id, or "" if there is no such text. *out is valid until
 * the cache is cleared. Returns the status of sp_database_step(), or
 * SPANPROF_ERR_LIMIT if the arena is full. */
spanprof_status sp_text_cache_get(sp_text_cache *cache, sp_row_id id,
                                  const char **out);

#endif
