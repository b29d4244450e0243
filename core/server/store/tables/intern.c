#include "intern.h"

#include <string.h>

#include "stack_run.h"
#include "util/system/status.h"

/* Limits of `now` and of `before`, enough for about 10 applications with all
 * their stacks. */
#define INTERN_ITEMS_MAX 150000
#define INTERN_BYTES_MAX ((size_t)8 << 20)

static const char *const intern_find[SP_INTERN_KINDS] = {
    "SELECT id FROM text WHERE text=?1",
    "SELECT id FROM location WHERE lines=?1",
    "SELECT id FROM source WHERE key=?1",
    "SELECT id FROM series WHERE source=?2 AND labels=?1",
    "SELECT id FROM function WHERE name=?1 AND file=?2 AND start_line=?3",
    "SELECT " SP_STACK_RUN_COLUMNS
    " FROM stack WHERE parent=?1 AND location=?2",
};

static const char *const intern_insert[SP_INTERN_KINDS] = {
    "INSERT INTO text(text) VALUES(?1)",
    "INSERT INTO location(lines) VALUES(?1)",
    "INSERT INTO source(key) VALUES(?1)",
    "INSERT INTO series(source, labels) VALUES(?2, ?1)",
    "INSERT INTO function(name, file, start_line) VALUES(?1, ?2, ?3)",
    "INSERT INTO stack(" SP_STACK_RUN_COLUMNS ") VALUES(?1, ?2, ?3, ?4)",
};

void sp_intern_init(sp_intern *intern, const sp_mem *mem, sqlite3 *db,
                    sp_log_bound *bound) {
  memset(intern, 0, sizeof *intern);
  intern->mem = mem;
  intern->db = db;
  intern->bound = bound;
  pthread_rwlock_init(&intern->lock, NULL);
  sp_buffer_init(&intern->more, mem);
  sp_series_limit_init(&intern->series, mem, 0, 0);
  sp_arena_init(&intern->now.arena, mem, INTERN_BYTES_MAX * 2);
  sp_arena_init(&intern->before.arena, mem, INTERN_BYTES_MAX * 2);
}

static void intern_clear(sp_intern_items *items) {
  items->count = 0;
  sp_index_clear(&items->index);
  sp_arena_clear(&items->arena);
}

void sp_intern_forget(sp_intern *intern) {
  intern->next_stack = 0;
  sp_series_limit_forget(&intern->series);
  pthread_rwlock_wrlock(&intern->lock);
  intern_clear(&intern->now);
  intern->generation++;
  pthread_rwlock_unlock(&intern->lock);
  intern_clear(&intern->before);
}

void sp_intern_watch(sp_intern *intern) {
  sp_intern_watch_end(intern);
  sp_intern_forget(intern);
  intern->watching = true;
}

void sp_intern_watch_end(sp_intern *intern) {
  int i;

  for (i = 0; i < SP_INTERN_KINDS; i++)
    sp_id_set_dispose(&intern->used[i], intern->mem);
  intern->watching = intern->missed = false;
  sp_series_limit_forget(&intern->series);
}

static void intern_items_dispose(sp_intern_items *items, const sp_mem *mem) {
  sp_arena_dispose(&items->arena);
  sp_mem_free(mem, items->items);
  sp_index_dispose(&items->index, mem);
}

void sp_intern_dispose(sp_intern *intern) {
  int i;

  for (i = 0; i < SP_INTERN_KINDS; i++) {
    sqlite3_finalize(intern->find[i]);
    sqlite3_finalize(intern->insert[i]);
  }
  sqlite3_finalize(intern->run_of);
  sp_buffer_dispose(&intern->more);
  sp_intern_watch_end(intern);
  sp_series_limit_dispose(&intern->series);
  pthread_rwlock_destroy(&intern->lock);
  intern_items_dispose(&intern->now, intern->mem);
  intern_items_dispose(&intern->before, intern->mem);
}

static bool intern_same(const sp_intern_item *a, const sp_intern_item *b) {
  return a->kind == b->kind && a->a == b->a && a->b == b->b && a->c == b->c &&
         (!a->bytes || memcmp(a->bytes, b->bytes, (size_t)a->b) == 0);
}

static void intern_bind(sqlite3_stmt *statement, const sp_intern_item *item) {
  if (item->bytes && item->kind == SP_INTERN_TEXT) {
    sqlite3_bind_text64(statement, 1, item->bytes, item->b, SQLITE_STATIC,
                        SQLITE_UTF8);
  } else if (item->bytes) {
    sqlite3_bind_blob64(statement, 1, item->bytes, item->b, SQLITE_STATIC);
    if (item->kind == SP_INTERN_SERIES)
      sqlite3_bind_int64(statement, 2, (int64_t)item->a);
  } else {
    sqlite3_bind_int64(statement, 1, (int64_t)item->a);
    sqlite3_bind_int64(statement, 2, (int64_t)item->b);
    sqlite3_bind_int64(statement, 3, (int64_t)item->c);
  }
}

/* Record that an id is in use, if a collection is running. */
static void intern_use(sp_intern *intern, sp_intern_kind kind, sp_row_id id) {
  if (intern->watching && sp_id_set_add(&intern->used[kind], intern->mem, id))
    intern->missed = true;
}

/* Blocks and selections store ids of sources and series in 32 bits. The series
 * limits keep these ids low (series_limit.h). */
static spanprof_status intern_check_id(sp_intern_kind kind, int64_t id) {
  if (id <= UINT32_MAX ||
      (kind != SP_INTERN_SOURCE && kind != SP_INTERN_SERIES))
    return SPANPROF_OK;
  return sp_fail(
      SPANPROF_ERR_LIMIT,
      "the store has no ids left for new series: stop the server, "
      "move its database away, and start it again with an empty one");
}

/* Returns SPANPROF_OK if a row may be inserted. */
static spanprof_status intern_may_insert(sp_intern *intern) {
  return intern->lookup_only ? SPANPROF_ERR_STATE
                             : sp_log_bound_check(intern->bound);
}

/* Find the item in the file, or insert it into the file. */
static spanprof_status intern_find_or_insert(sp_intern *intern,
                                             sp_intern_item *item) {
  sqlite3_stmt **find = &intern->find[item->kind];
  sqlite3_stmt **insert = &intern->insert[item->kind];
  int64_t id = 0;
  int code = SQLITE_DONE;
  spanprof_status st;

  intern->queries++;
  st = sp_database_prepare(intern->db, find, intern_find[item->kind]);
  if (!st)
    st = sp_database_prepare(intern->db, insert, intern_insert[item->kind]);
  if (st)
    return st;
  intern_bind(*find, item);
  st = sp_database_step(*find, &code);
  if (!st && code == SQLITE_ROW)
    id = sqlite3_column_int64(*find, 0);
  sqlite3_reset(*find);
  if (!st && !id)
    st = intern_may_insert(intern);
  if (!st && !id) {
    intern->inserted++;
    intern_bind(*insert, item);
    st = sp_database_do(*insert);
    id = sqlite3_last_insert_rowid(intern->db);
  }
  if (!st)
    st = intern_check_id(item->kind, id);
  item->id = (sp_row_id)id;
  if (!st)
    intern_use(intern, item->kind, item->id);
  return st;
}

/* Replace `before` by `now`, and begin with an empty `now`. */
static void intern_rotate(sp_intern *intern) {
  const sp_intern_items old = intern->before;

  intern->before = intern->now;
  intern->now = old;
  intern_clear(&intern->now);
}

/* Add an item to `now`, unless memory runs out. The caller holds `lock` for
 * writing. */
static void intern_add(sp_intern *intern, sp_intern_item item, uint64_t hash) {
  sp_intern_items *now = &intern->now;
  void *array, *copy = NULL;

  if (now->count >= INTERN_ITEMS_MAX || now->arena.bytes > INTERN_BYTES_MAX)
    intern_rotate(intern);
  if (item.bytes) {
    copy = sp_arena_new(&now->arena, (size_t)item.b + 1, 1);
    if (!copy)
      return;
    memcpy(copy, item.bytes, (size_t)item.b);
    item.bytes = copy;
  }
  array = now->items;
  if (sp_mem_reserve(intern->mem, &array, &now->capacity, now->count + 1,
                     sizeof item))
    return;
  now->items = array;
  if (sp_index_reserve(&now->index, intern->mem))
    return;
  now->items[now->count] = item;
  sp_index_add(&now->index, hash, (uint32_t)now->count++);
}

/* Add an item to `now`. If that fails, the item is read from the file again
 * when it is needed. */
static void intern_remember(sp_intern *intern, sp_intern_item item,
                            uint64_t hash) {
  pthread_rwlock_wrlock(&intern->lock);
  intern_add(intern, item, hash);
  pthread_rwlock_unlock(&intern->lock);
}

static bool intern_find_in(const sp_intern_items *items,
                           const sp_intern_item *item, uint64_t hash,
                           sp_row_id *id) {
  uint32_t at, number;

  for (number = sp_index_first(&items->index, hash, &at);
       number != SP_INDEX_NONE;
       number = sp_index_next(&items->index, hash, &at)) {
    if (intern_same(&items->items[number], item)) {
      *id = items->items[number].id;
      return true;
    }
  }
  return false;
}

/* Look for the item in `now` and `before`. */
static bool intern_find_recent(sp_intern *intern, const sp_intern_item *item,
                               uint64_t hash, sp_row_id *id) {
  sp_intern_item again = *item;

  if (intern_find_in(&intern->now, item, hash, id))
    return true;
  if (!intern_find_in(&intern->before, item, hash, id))
    return false;
  again.id = *id;
  intern_remember(intern, again, hash);
  return true;
}

static spanprof_status intern_get(sp_intern *intern, sp_intern_item *item,
                                  uint64_t hash, sp_row_id *id) {
  spanprof_status st;

  if (intern_find_recent(intern, item, hash, id))
    return SPANPROF_OK;
  st = intern_find_or_insert(intern, item);
  *id = item->id;
  if (!st)
    intern_remember(intern, *item, hash);
  return st;
}

static uint64_t intern_hash(const sp_intern_item *item) {
  return sp_hash_mix(sp_hash_bytes(item->bytes, (size_t)item->b),
                     (uint64_t)item->kind << 32 | item->a);
}

spanprof_status sp_intern_bytes(sp_intern *intern, sp_intern_kind kind,
                                sp_row_id a, const void *bytes, size_t size,
                                sp_row_id *id) {
  sp_intern_item item = {
      .kind = kind, .a = a, .b = size, .bytes = size ? bytes : ""};

  return intern_get(intern, &item, intern_hash(&item), id);
}

static uint64_t intern_numbers_hash(const sp_intern_item *item) {
  return sp_hash_mix(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, item->a), item->b),
                     item->c + item->kind);
}

spanprof_status sp_intern_function(sp_intern *intern, sp_row_id name,
                                   sp_row_id file, int64_t start_line,
                                   sp_row_id *id) {
  sp_intern_item item = {.kind = SP_INTERN_FUNCTION,
                         .a = name,
                         .b = file,
                         .c = (uint64_t)start_line};

  return intern_get(intern, &item, intern_numbers_hash(&item), id);
}

bool sp_intern_recall(sp_intern *intern, sp_intern_kind kind, const void *bytes,
                      size_t size, sp_row_id *id) {
  const sp_intern_item item = {.kind = kind, .b = size, .bytes = bytes};

  return intern_find_recent(intern, &item, intern_hash(&item), id);
}

void sp_intern_remember(sp_intern *intern, sp_intern_kind kind,
                        const void *bytes, size_t size, sp_row_id id) {
  const sp_intern_item item = {
      .kind = kind, .b = size, .bytes = bytes, .id = id};

  intern_remember(intern, item, intern_hash(&item));
}

uint64_t sp_intern_lock(sp_intern *intern) {
  pthread_rwlock_rdlock(&intern->lock);
  return intern->generation;
}

void sp_intern_unlock(sp_intern *intern) {
  pthread_rwlock_unlock(&intern->lock);
}

/* Looks only in `now`. An item that is only in `before` is left to the writer,
 * which moves it to `now`. */
bool sp_intern_known(const sp_intern *intern, sp_intern_kind kind, sp_row_id a,
                     const void *bytes, size_t size, sp_row_id *id) {
  const sp_intern_item item = {
      .kind = kind, .a = a, .b = size, .bytes = size ? bytes : ""};

  return intern_find_in(&intern->now, &item, intern_hash(&item), id);
}

/* ---- Stacks ---- */

/* The position in a stack that is looked up from the outermost frame inwards.
 */
typedef struct intern_walk {
  sp_row_id id;     /* id of the current frame; 0: before the first frame */
  sp_stack_run run; /* the run that was read last; it may contain the current
                     * frame */
} intern_walk;

/* Read a run with the query `sql`, whose parameters are `first`, and `second`
 * unless it is 0. *found is set to whether there is such a run. */
static spanprof_status intern_run(sp_intern *intern, sqlite3_stmt **statement,
                                  const char *sql, int64_t first,
                                  int64_t second, sp_stack_run *run,
                                  bool *found) {
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_prepare(intern->db, statement, sql);

  *found = false;
  if (st)
    return st;
  intern->queries++;
  sqlite3_bind_int64(*statement, 1, first);
  if (second)
    sqlite3_bind_int64(*statement, 2, second);
  st = sp_database_step(*statement, &code);
  if (!st && code == SQLITE_ROW) {
    st = sp_stack_run_read(run, *statement);
    *found = !st;
  }
  sqlite3_reset(*statement);
  return st;
}

/* Read the run with the highest id that is not above `id`. */
static spanprof_status intern_run_of(sp_intern *intern, int64_t id,
                                     sp_stack_run *run, bool *found) {
  return intern_run(intern, &intern->run_of,
                    "SELECT " SP_STACK_RUN_COLUMNS
                    " FROM stack WHERE id<=?1 ORDER BY id DESC LIMIT 1",
                    id, 0, run, found);
}

/* Returns whether the next frame of the run has this location. */
static bool intern_continues(const intern_walk *walk, sp_row_id location) {
  return sp_stack_run_has(&walk->run, walk->id) &&
         sp_stack_run_has(&walk->run, walk->id + 1) &&
         walk->run.locations[walk->id + 1 - walk->run.id] == location;
}

/* Find the frame with this location below the current frame, in the current run
 * or else in the file. It is the next frame of the current frame's run, or the
 * first frame of another run. */
static spanprof_status intern_find_frame(sp_intern *intern, intern_walk *walk,
                                         sp_row_id location, bool *found) {
  sp_stack_run run;
  spanprof_status st;

  *found = intern_continues(walk, location);
  if (*found) {
    walk->id++;
    return SPANPROF_OK;
  }
  st = intern_run(intern, &intern->find[SP_INTERN_STACK],
                  intern_find[SP_INTERN_STACK], (int64_t)walk->id,
                  (int64_t)location, &run, found);
  if (!st && *found) {
    walk->run = run;
    walk->id = run.id;
  } else if (!st && walk->id && !sp_stack_run_has(&walk->run, walk->id)) {
    st = intern_run_of(intern, (int64_t)walk->id, &walk->run, found);
    *found = intern_continues(walk, location);
    walk->id += *found;
  }
  return st;
}

static spanprof_status intern_next_stack(sp_intern *intern) {
  sp_stack_run last = {0};
  bool found;
  spanprof_status st = SPANPROF_OK;

  if (!intern->next_stack) {
    st = intern_run_of(intern, INT64_MAX, &last, &found);
    intern->next_stack = last.id + last.count + !last.count;
  }
  return st;
}

/* Insert a run below the current frame, and go to the last frame of the run. */
static spanprof_status intern_insert_run(sp_intern *intern, intern_walk *walk,
                                         const sp_row_id *locations,
                                         size_t count) {
  sqlite3_stmt **insert = &intern->insert[SP_INTERN_STACK];
  spanprof_status st = intern_may_insert(intern);

  if (!st)
    st = intern_next_stack(intern);
  if (!st)
    st = sp_stack_run_more(locations, count, &intern->more);
  if (!st)
    st =
        sp_database_prepare(intern->db, insert, intern_insert[SP_INTERN_STACK]);
  if (st)
    return st;
  intern->queries++;
  intern->inserted++;
  sqlite3_bind_int64(*insert, 1, (int64_t)intern->next_stack);
  sqlite3_bind_int64(*insert, 2, (int64_t)walk->id);
  sqlite3_bind_int64(*insert, 3, (int64_t)locations[0]);
  if (count > 1)
    sqlite3_bind_blob64(*insert, 4, intern->more.data, intern->more.size,
                        SQLITE_STATIC);
  else
    sqlite3_bind_null(*insert, 4);
  st = sp_database_do(*insert);
  if (st)
    return st;
  intern->next_stack += count;
  walk->id = intern->next_stack - 1;
  intern_use(intern, SP_INTERN_STACK, walk->id);
  return SPANPROF_OK;
}

/* Go to the next frame, if the store has it. A frame that is inserted is not
 * added to memory before its second use, because one deep stack would evict the
 * items of others. */
static spanprof_status intern_step(sp_intern *intern, intern_walk *walk,
                                   sp_row_id location, bool *found) {
  sp_intern_item item = {.kind = SP_INTERN_STACK, .a = walk->id, .b = location};
  const uint64_t hash = intern_numbers_hash(&item);
  spanprof_status st = SPANPROF_OK;

  *found = intern_find_recent(intern, &item, hash, &walk->id);
  if (*found)
    return SPANPROF_OK;
  st = intern_find_frame(intern, walk, location, found);
  if (st || !*found)
    return st;
  item.id = walk->id;
  intern_use(intern, SP_INTERN_STACK, walk->id);
  intern_remember(intern, item, hash);
  return SPANPROF_OK;
}

spanprof_status sp_intern_stack(sp_intern *intern, const sp_row_id *locations,
                                size_t count, const sp_buffer *key,
                                sp_row_id *id) {
  intern_walk walk = {0};
  spanprof_status st = SPANPROF_OK;
  bool found = true;
  size_t i = 0;

  if (sp_intern_recall(intern, SP_INTERN_PATH, key->data, key->size, id))
    return SPANPROF_OK;
  while (!st && i < count && found) {
    st = intern_step(intern, &walk, locations[i], &found);
    i += found;
  }
  while (!st && i < count) {
    const size_t run =
        count - i < SP_STACK_RUN_MAX ? count - i : SP_STACK_RUN_MAX;

    st = intern_insert_run(intern, &walk, locations + i, run);
    i += run;
  }
  if (!st)
    sp_intern_remember(intern, SP_INTERN_PATH, key->data, key->size, walk.id);
  *id = walk.id;
  return st;
}
