/* Texts, functions, locations and stacks, each once in the store. What the
 * writer has seen lately it finds without asking SQLite, and so do others, who
 * hold it meanwhile: only the writer changes it, and waits for them. */
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
  SP_INTERN_SERIES, /* a is the source */
  SP_INTERN_FUNCTION,
  SP_INTERN_STACK,
  SP_INTERN_KINDS,
  /* In memory alone, made of the others: */
  SP_INTERN_PATH = SP_INTERN_KINDS, /* a whole stack */
  SP_INTERN_FRAME,                  /* a location with its names */
} sp_intern_kind;

typedef struct sp_intern_item {
  uint64_t a, b, c; /* of numbers; b: of bytes, how many */
  const void *bytes;
  sp_row_id id;
  uint32_t kind;
} sp_intern_item;

typedef struct sp_intern_items {
  sp_arena arena; /* bytes of the items */
  sp_intern_item *items;
  size_t count;
  size_t room;
  sp_index index;
} sp_intern_items;

typedef struct sp_intern {
  const sp_mem *mem;
  sqlite3 *db;
  sp_log_bound *bound;
  sp_series_limit series; /* used by the writer's thread, like the members below
                           */
  bool looks_only;        /* do not give ids to new items: SPANPROF_ERR_STATE */
  uint64_t inserted;      /* rows inserted so far */
  /* `now` and `generation` are written with the lock held for writing, by the
   * writer; others read them with the lock held. */
  pthread_rwlock_t lock;
  uint64_t generation; /* of ids: raised where some are forgotten as wrong */
  sqlite3_stmt *find[SP_INTERN_KINDS];
  sqlite3_stmt *insert[SP_INTERN_KINDS];
  sqlite3_stmt *run_of; /* the run that has a frame */
  sp_row_id next_stack; /* lowest id above all stacks; 0: not known */
  sp_buffer more;       /* of the run that is being inserted */
  /* What was seen lately. Where `now` is full it becomes `before`, and what is
   * asked for again comes back from there: the rest is forgotten. */
  sp_intern_items now;
  sp_intern_items before;
  /* Ids given out since sp_intern_watch(), which are in use. */
  sp_id_set used[SP_INTERN_KINDS];
  uint64_t asked; /* number of queries to the file */
  bool watches;
  bool missed; /* there was no memory for one of them */
} sp_intern;

void sp_intern_init(sp_intern *intern, const sp_mem *mem, sqlite3 *db,
                    sp_log_bound *bound);
void sp_intern_dispose(sp_intern *intern);

/* Forget what was seen: after a rollback, whose ids are none. */
void sp_intern_forget(sp_intern *intern);

/* From now on note every id that is given out, until the end. Forgets what was
 * seen, so that each goes through the file once. */
void sp_intern_watch(sp_intern *intern);
void sp_intern_watch_end(sp_intern *intern);

/* The id of bytes (text, location, source, or series of the source `a`), or of
 * a function's name, file and line. Statuses as of sp_database_step();
 * SPANPROF_ERR_LIMIT: 2^32 series or sources. */
spanprof_status sp_intern_bytes(sp_intern *intern, sp_intern_kind kind,
                                sp_row_id a, const void *bytes, size_t size,
                                sp_row_id *id);
spanprof_status sp_intern_function(sp_intern *intern, sp_row_id name,
                                   sp_row_id file, int64_t start_line,
                                   sp_row_id *id);

/* What was remembered of bytes, and remembering an id for them: of the kinds
 * that are in memory alone. */
bool sp_intern_recall(sp_intern *intern, sp_intern_kind kind, const void *bytes,
                      size_t size, sp_row_id *id);
void sp_intern_remember(sp_intern *intern, sp_intern_kind kind,
                        const void *bytes, size_t size, sp_row_id id);

/* For other threads than the writer's: hold what was seen lately, and whether
 * bytes are of it; of every kind that has bytes. An id is good for a writer's
 * job as long as the generation is the one that the hold returned. */
uint64_t sp_intern_hold(sp_intern *intern);
void sp_intern_release(sp_intern *intern);
bool sp_intern_known(const sp_intern *intern, sp_intern_kind kind, sp_row_id a,
                     const void *bytes, size_t size, sp_row_id *id);

/* The id of the stack of these locations, the outermost first. `key` identifies
 * the stack: a stack that was used recently is found by it, without a look at
 * each of its frames. */
spanprof_status sp_intern_stack(sp_intern *intern, const sp_row_id *locations,
                                size_t count, const sp_buffer *key,
                                sp_row_id *id);

#endif
