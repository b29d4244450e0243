/* Gives ids to items (texts, functions, locations, stacks, sources and series),
 * each of which is stored once.
 *
 * Items that were used recently are found in memory, without SQLite. Only the
 * writer's thread changes this memory. Other threads look items up while they
 * hold `lock`, and the writer waits for them. */
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
  SP_INTERN_SERIES, /* labels of a series; sp_intern_item.a is the id of its
                     * source */
  SP_INTERN_FUNCTION,
  SP_INTERN_STACK,
  SP_INTERN_KINDS,
  /* Kinds that are in memory only, composed of the kinds above: */
  SP_INTERN_PATH = SP_INTERN_KINDS, /* a whole stack */
  SP_INTERN_FRAME,                  /* a location with its names */
} sp_intern_kind;

typedef struct sp_intern_item {
  uint64_t a, b, c; /* numbers that identify the item; if the item is bytes, b
                     * is the number of bytes */
  const void *bytes;
  sp_row_id id;
  uint32_t kind;
} sp_intern_item;

typedef struct sp_intern_items {
  sp_arena arena; /* memory for the bytes of the items */
  sp_intern_item *items;
  size_t count;
  size_t capacity;
  sp_index index;
} sp_intern_items;

typedef struct sp_intern {
  const sp_mem *mem;
  sqlite3 *db;
  sp_log_bound *bound;
  sp_series_limit series; /* used by the writer's thread only, like all members
                           * except those that `lock` guards */
  bool lookup_only;       /* new items get no id; SPANPROF_ERR_STATE is returned
                           * for them */
  uint64_t inserted;      /* rows inserted so far */
  /* Guards `now` and `generation`. The writer's thread holds the lock for
   * writing when it changes them; other threads hold it for reading. */
  pthread_rwlock_t lock;
  uint64_t generation; /* incremented when all ids in memory become invalid */
  sqlite3_stmt *find[SP_INTERN_KINDS];
  sqlite3_stmt *insert[SP_INTERN_KINDS];
  sqlite3_stmt *run_of; /* finds the run that contains a frame */
  sp_row_id next_stack; /* lowest id above all stacks; 0: not known */
  sp_buffer more;       /* column `more` of the row that is being inserted
                         * (stack_run.h) */
  /* Items that were used recently. When `now` is full, it replaces `before`,
   * whose items are forgotten. An item that is found in `before` is copied to
   * `now`. */
  sp_intern_items now;
  sp_intern_items before;
  /* Ids that were given out since sp_intern_watch(), so they are in use. */
  sp_id_set used[SP_INTERN_KINDS];
  uint64_t queries; /* statements run on the file so far */
  bool watching;
  bool missed; /* an id is missing in `used`, because memory ran out */
} sp_intern;

void sp_intern_init(sp_intern *intern, const sp_mem *mem, sqlite3 *db,
                    sp_log_bound *bound);
void sp_intern_dispose(sp_intern *intern);

/* Forget all items in memory. Called after a rollback, because the ids of
 * rolled back rows are invalid. */
void sp_intern_forget(sp_intern *intern);

/* Record in `used` every id that is given out until sp_intern_watch_end().
 * Forgets all items in memory, so that ids that were given out before are
 * looked up, and recorded, when they are used again. */
void sp_intern_watch(sp_intern *intern);
void sp_intern_watch_end(sp_intern *intern);

/* Get the id of an item, and add the item if it is new. sp_intern_bytes() is
 * for the kinds whose items are bytes (TEXT, LOCATION, SOURCE, SERIES); `a` is
 * the source of a series, and 0 for other kinds. Both functions return the
 * status of sp_database_step(), SPANPROF_ERR_STATE if the item is new and
 * `lookup_only` is set, or SPANPROF_ERR_LIMIT if the log is full or the ids of
 * series or sources (32 bits) are used up. */
spanprof_status sp_intern_bytes(sp_intern *intern, sp_intern_kind kind,
                                sp_row_id a, const void *bytes, size_t size,
                                sp_row_id *id);
spanprof_status sp_intern_function(sp_intern *intern, sp_row_id name,
                                   sp_row_id file, int64_t start_line,
                                   sp_row_id *id);

/* Look up or store the id of bytes in memory, for the kinds PATH and FRAME,
 * which are in memory only. */
bool sp_intern_recall(sp_intern *intern, sp_intern_kind kind, const void *bytes,
                      size_t size, sp_row_id *id);
void sp_intern_remember(sp_intern *intern, sp_intern_kind kind,
                        const void *bytes, size_t size, sp_row_id id);

/* For threads other than the writer's: lock the items in memory for reading,
 * and look up bytes, of any kind whose items are bytes. sp_intern_lock()
 * returns the generation. A job of the writer may use the id if the generation
 * is still the same. */
uint64_t sp_intern_lock(sp_intern *intern);
void sp_intern_unlock(sp_intern *intern);
bool sp_intern_known(const sp_intern *intern, sp_intern_kind kind, sp_row_id a,
                     const void *bytes, size_t size, sp_row_id *id);

/* Get the id of the stack of these locations, the outermost first, and add the
 * stack if it is new. `key` has bytes that identify the stack; with them, a
 * stack that was used recently is found without looking up each of its frames.
 * Returns the statuses of sp_intern_bytes(). */
spanprof_status sp_intern_stack(sp_intern *intern, const sp_row_id *locations,
                                size_t count, const sp_buffer *key,
                                sp_row_id *id);

#endif
