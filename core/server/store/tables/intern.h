/* Texts, functions, locations and stacks, each stored once.
 *
 * Items that were used recently are found in memory, without SQLite. Only the
 * writer changes them. Other threads may look them up while they hold the lock,
 * and the writer waits for that. */
#ifndef SP_INTERN_H
#define SP_INTERN_H

#include <pthread.h>

#include "database.h"
#include "profile/tables/arena.h"
#include "series_limit.h"
#include "server/store/block/id_set.h"
#include "util/memory/buffer.h"
#include "util/memory/hash_index.h"

typedef enum sp_intern_kind {
  SP_INTERN_TEXT,
  SP_INTERN_LOCATION,
  SP_INTERN_SOURCE,
  SP_INTERN_SERIES, /* `a` is the source */
  SP_INTERN_FUNCTION,
  SP_INTERN_STACK,
  SP_INTERN_KINDS,
  /* In memory only, composed of the others: */
  SP_INTERN_PATH = SP_INTERN_KINDS, /* a whole stack */
  SP_INTERN_FRAME,                  /* a location with its names */
} sp_intern_kind;

typedef struct sp_intern_item {
  uint64_t a, b, c; /* numbers; if the item is bytes, b is their count */
  const void *bytes;
  sp_row_id id;
  uint32_t kind;
} sp_intern_item;

typedef struct sp_intern_items {
  sp_arena arena; /* bytes of the items */
  sp_intern_item *items;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_intern_items;

typedef struct sp_intern {
  const sp_mem *mem;
  sqlite3 *db;
  sp_log_bound *bound;
  sp_series_limit series; /* used by the writer's thread only, like the
                           * members below */
  bool lookup_only;       /* do not give ids to new items: SPANPROF_ERR_STATE */
  uint64_t inserted;      /* rows inserted so far */
  /* `now` and `generation` are written with the lock held for writing, by the
   * writer; others read them with the lock held. */
  pthread_rwlock_t lock;
  uint64_t generation; /* of the ids; raised when ids are forgotten because
                        * they are invalid */
  sqlite3_stmt *find[SP_INTERN_KINDS];
  sqlite3_stmt *insert[SP_INTERN_KINDS];
  sqlite3_stmt *run_of; /* finds the run that contains a frame */
  sp_row_id next_stack; /* lowest id above all stacks; 0: not known */
  sp_buffer more;       /* column `more` of the run that is being inserted */
  /* Items that were used recently. When `now` is full it becomes `before`, and
   * items that are needed again are copied back; all others are forgotten. */
  sp_intern_items now;
  sp_intern_items before;
  /* Ids given out since sp_intern_watch(): they are in use. */
  sp_id_set used[SP_INTERN_KINDS];
  uint64_t queries; /* statements run on the file so far */
  bool watching;
  bool missed; /* an id is missing in `used`, because memory ran out */
} sp_intern;

void sp_intern_init(sp_intern *intern, const sp_mem *mem, sqlite3 *db,
                    sp_log_bound *bound);
void sp_intern_dispose(sp_intern *intern);

/* Forget all items in memory. Needed after a rollback, because ids of rolled
 * back rows are invalid. */
void sp_intern_forget(sp_intern *intern);

/* Note every id that is given out from now on, until sp_intern_watch_end().
 * Forgets all items in memory, so that each id in use is looked up again. */
void sp_intern_watch(sp_intern *intern);
void sp_intern_watch_end(sp_intern *intern);

/* Find or add bytes (text, location, source, or series of the source `a`), or a
 * function. Statuses as of sp_database_step(); SPANPROF_ERR_LIMIT: 2^32 series
 * or sources. */
spanprof_status sp_intern_bytes(sp_intern *intern, sp_intern_kind kind,
                                sp_row_id a, const void *bytes, size_t size,
                                sp_row_id *id);
spanprof_status sp_intern_function(sp_intern *intern, sp_row_id name,
                                   sp_row_id file, int64_t start_line,
                                   sp_row_id *id);

/* Find or store the id of bytes in memory, for the kinds that are in memory
 * only. */
bool sp_intern_recall(sp_intern *intern, sp_intern_kind kind, const void *bytes,
                      size_t size, sp_row_id *id);
void sp_intern_remember(sp_intern *intern, sp_intern_kind kind,
                        const void *bytes, size_t size, sp_row_id id);

/* For threads other than the writer's: lock the items in memory for reading,
 * and look up bytes (all kinds that have bytes). An id is valid in a job of the
 * writer if the generation is still the one that the lock returned. */
uint64_t sp_intern_lock(sp_intern *intern);
void sp_intern_unlock(sp_intern *intern);
bool sp_intern_known(const sp_intern *intern, sp_intern_kind kind, sp_row_id a,
                     const void *bytes, size_t size, sp_row_id *id);

/* Find or add the stack of these locations, the outermost first. `key`
 * identifies the stack: a stack that was used recently is found by it, without
 * looking up each of its frames. */
spanprof_status sp_intern_stack(sp_intern *intern, const sp_row_id *locations,
                                size_t count, const sp_buffer *key,
                                sp_row_id *id);

#endif
