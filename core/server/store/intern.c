#include "intern.h"

#include <string.h>

#include "util/system/status.h"

/* What is kept in memory, twice: some 10 applications with all their stacks. */
#define INTERN_ITEMS_MAX 150000
#define INTERN_BYTES_MAX ((size_t)8 << 20)

static const char *const intern_find[SP_INTERN_KINDS] = {
    "SELECT id FROM text WHERE text=?1",
    "SELECT id FROM location WHERE lines=?1",
    "SELECT id FROM source WHERE key=?1",
    "SELECT id FROM series WHERE source=?2 AND labels=?1",
    "SELECT id FROM function WHERE name=?1 AND file=?2 AND start_line=?3",
    "SELECT id FROM stack WHERE parent=?1 AND location=?2",
};

static const char *const intern_insert[SP_INTERN_KINDS] = {
    "INSERT INTO text(text) VALUES(?1)",
    "INSERT INTO location(lines) VALUES(?1)",
    "INSERT INTO source(key) VALUES(?1)",
    "INSERT INTO series(source, labels) VALUES(?2, ?1)",
    "INSERT INTO function(name, file, start_line) VALUES(?1, ?2, ?3)",
    "INSERT INTO stack(parent, location) VALUES(?1, ?2)",
};

void sp_intern_init(sp_intern *intern, const sp_mem *mem, sqlite3 *db,
                    sp_log_bound *bound) {
  memset(intern, 0, sizeof *intern);
  intern->mem = mem;
  intern->db = db;
  intern->bound = bound;
  pthread_rwlock_init(&intern->lock, NULL);
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
  intern->watches = true;
}

void sp_intern_watch_end(sp_intern *intern) {
  int i;

  for (i = 0; i < SP_INTERN_KINDS; i++)
    sp_id_set_dispose(&intern->used[i], intern->mem);
  intern->watches = intern->missed = false;
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
    if (item->kind == SP_INTERN_FUNCTION)
      sqlite3_bind_int64(statement, 3, (int64_t)item->c);
  }
}

/* Find the item in the file, or insert it. *is_new, in: it is known not to be
 * in the file; out: it was not found. */
static spanprof_status intern_ask(sp_intern *intern, sp_intern_item *item,
                                  bool *is_new) {
  sqlite3_stmt **find = &intern->find[item->kind];
  sqlite3_stmt **insert = &intern->insert[item->kind];
  int64_t id = 0;
  int code = SQLITE_DONE;
  spanprof_status st;

  intern->asked++;
  st = sp_database_prepare(intern->db, find, intern_find[item->kind]);
  if (!st)
    st = sp_database_prepare(intern->db, insert, intern_insert[item->kind]);
  if (st)
    return st;
  if (!*is_new) {
    intern_bind(*find, item);
    st = sp_database_step(*find, &code);
    if (!st && code == SQLITE_ROW)
      id = sqlite3_column_int64(*find, 0);
    sqlite3_reset(*find);
  }
  *is_new = !id;
  if (!st && !id)
    st = intern->looks_only ? SPANPROF_ERR_STATE
                            : sp_log_bound_check(intern->bound);
  if (!st && !id) {
    intern->inserted++;
    intern_bind(*insert, item);
    st = sp_database_do(*insert);
    id = sqlite3_last_insert_rowid(intern->db);
  }
  if (!st && id > UINT32_MAX)
    st = sp_fail(SPANPROF_ERR_LIMIT, "the store has no room for more stacks: "
                                     "begin a new one");
  item->id = (uint32_t)id;
  if (!st && intern->watches &&
      sp_id_set_add(&intern->used[item->kind], intern->mem, item->id))
    intern->missed = true;
  return st;
}

/* Make room by forgetting what was not asked for in a while. */
static void intern_turn(sp_intern *intern) {
  const sp_intern_items old = intern->before;

  intern->before = intern->now;
  intern->now = old;
  intern_clear(&intern->now);
}

/* With the lock held for writing. */
static void intern_add(sp_intern *intern, sp_intern_item item, uint64_t hash) {
  sp_intern_items *now = &intern->now;
  void *array, *copy = NULL;

  if (now->count >= INTERN_ITEMS_MAX || now->arena.bytes > INTERN_BYTES_MAX)
    intern_turn(intern);
  if (item.bytes) {
    copy = sp_arena_new(&now->arena, (size_t)item.b + 1, 1);
    if (!copy)
      return;
    memcpy(copy, item.bytes, (size_t)item.b);
    item.bytes = copy;
  }
  array = now->items;
  if (sp_mem_reserve(intern->mem, &array, &now->room, now->count + 1,
                     sizeof item))
    return;
  now->items = array;
  if (sp_index_reserve(&now->index, intern->mem))
    return;
  now->items[now->count] = item;
  sp_index_add(&now->index, hash, (uint32_t)now->count++);
}

/* What cannot be remembered is asked for again. */
static void intern_remember(sp_intern *intern, sp_intern_item item,
                            uint64_t hash) {
  pthread_rwlock_wrlock(&intern->lock);
  intern_add(intern, item, hash);
  pthread_rwlock_unlock(&intern->lock);
}

static bool intern_find_in(const sp_intern_items *items,
                           const sp_intern_item *item, uint64_t hash,
                           uint32_t *id) {
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

/* Whether it was seen lately. */
static bool intern_seen(sp_intern *intern, const sp_intern_item *item,
                        uint64_t hash, uint32_t *id) {
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
                                  uint64_t hash, uint32_t *id) {
  bool is_new = false;
  spanprof_status st;

  if (intern_seen(intern, item, hash, id))
    return SPANPROF_OK;
  st = intern_ask(intern, item, &is_new);
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
                                uint32_t a, const void *bytes, size_t size,
                                uint32_t *id) {
  sp_intern_item item = {
      .kind = kind, .a = a, .b = size, .bytes = size ? bytes : ""};

  return intern_get(intern, &item, intern_hash(&item), id);
}

static uint64_t intern_numbers_hash(const sp_intern_item *item) {
  return sp_hash_mix(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, item->a), item->b),
                     item->c + item->kind);
}

spanprof_status sp_intern_numbers(sp_intern *intern, sp_intern_kind kind,
                                  uint64_t a, uint64_t b, int64_t c,
                                  uint32_t *id) {
  sp_intern_item item = {.kind = kind, .a = a, .b = b, .c = (uint64_t)c};

  return intern_get(intern, &item, intern_numbers_hash(&item), id);
}

bool sp_intern_recall(sp_intern *intern, sp_intern_kind kind, const void *bytes,
                      size_t size, uint32_t *id) {
  const sp_intern_item item = {.kind = kind, .b = size, .bytes = bytes};

  return intern_seen(intern, &item, intern_hash(&item), id);
}

void sp_intern_remember(sp_intern *intern, sp_intern_kind kind,
                        const void *bytes, size_t size, uint32_t id) {
  const sp_intern_item item = {
      .kind = kind, .b = size, .bytes = bytes, .id = id};

  intern_remember(intern, item, intern_hash(&item));
}

uint64_t sp_intern_hold(sp_intern *intern) {
  pthread_rwlock_rdlock(&intern->lock);
  return intern->generation;
}

void sp_intern_release(sp_intern *intern) {
  pthread_rwlock_unlock(&intern->lock);
}

/* What `before` has alone the writer has to bring back, or it would be
 * forgotten however often it is found. */
bool sp_intern_known(const sp_intern *intern, sp_intern_kind kind, uint32_t a,
                     const void *bytes, size_t size, uint32_t *id) {
  const sp_intern_item item = {
      .kind = kind, .a = a, .b = size, .bytes = size ? bytes : ""};

  return intern_find_in(&intern->now, &item, intern_hash(&item), id);
}

/* Children of a new stack are new, too. A new stack is not cached until its
 * second use, because one deep stack would evict the entries of others. */
static spanprof_status intern_child(sp_intern *intern, uint32_t parent,
                                    uint32_t location, bool *is_new,
                                    uint32_t *id) {
  sp_intern_item item = {.kind = SP_INTERN_STACK, .a = parent, .b = location};
  spanprof_status st;

  if (!*is_new && intern_seen(intern, &item, intern_numbers_hash(&item), id))
    return SPANPROF_OK;
  st = intern_ask(intern, &item, is_new);
  *id = item.id;
  if (!st && !*is_new)
    intern_remember(intern, item, intern_numbers_hash(&item));
  return st;
}

spanprof_status sp_intern_stack(sp_intern *intern, const uint32_t *locations,
                                size_t count, uint32_t *id) {
  const size_t size = count * sizeof *locations;
  spanprof_status st = SPANPROF_OK;
  bool is_new = false;
  uint32_t at = 0;
  size_t i;

  if (sp_intern_recall(intern, SP_INTERN_PATH, locations, size, id))
    return SPANPROF_OK;
  for (i = 0; !st && i < count; i++)
    st = intern_child(intern, at, locations[i], &is_new, &at);
  if (!st)
    sp_intern_remember(intern, SP_INTERN_PATH, locations, size, at);
  *id = at;
  return st;
}
