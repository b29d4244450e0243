#include "frame_keys.h"

#include <string.h>

#include "server/store/block/columns.h"
#include "util/system/status.h"

/* Limits of the memory for locations and their functions. */
#define KEYS_MAX       ((size_t)1 << 20)
#define KEYS_BYTES_MAX ((size_t)48 << 20)

void sp_frame_keys_init(sp_frame_keys *keys, const sp_mem *mem, sqlite3 *db,
                        bool merges_lines) {
  *keys = (sp_frame_keys){.mem = mem, .db = db, .merges_lines = merges_lines};
  sp_arena_init(&keys->arena, mem, KEYS_BYTES_MAX);
}

void sp_frame_keys_dispose(sp_frame_keys *keys) {
  sqlite3_finalize(keys->location_row);
  sqlite3_finalize(keys->function_row);
  sp_row_numbers_dispose(&keys->locations, keys->mem);
  sp_row_numbers_dispose(&keys->functions, keys->mem);
  sp_index_dispose(&keys->index, keys->mem);
  sp_mem_free(keys->mem, keys->keys);
  sp_mem_free(keys->mem, keys->names);
  sp_mem_free(keys->mem, keys->functions_of);
  sp_mem_free(keys->mem, keys->function_counts);
  sp_arena_dispose(&keys->arena);
}

static spanprof_status keys_row(sp_frame_keys *keys, sqlite3_stmt **row,
                                const char *sql, sp_row_id id) {
  spanprof_status st = sp_database_prepare(keys->db, row, sql);
  int code = SQLITE_DONE;

  if (st)
    return st;
  sqlite3_reset(*row);
  sqlite3_bind_int64(*row, 1, (int64_t)id);
  st = sp_database_step(*row, &code);
  if (!st && code != SQLITE_ROW)
    st = sp_fail(SPANPROF_ERR_FORMAT, "a frame of a stored stack is missing");
  return st;
}

static spanprof_status keys_names(sp_frame_keys *keys, sp_row_id function,
                                  sp_frame_names *out) {
  const size_t known = keys->functions.count;
  uint32_t number;
  spanprof_status st = sp_row_numbers_get(&keys->functions, keys->mem, function,
                                          KEYS_MAX, &number);

  if (!st && number < known) {
    *out = keys->names[number];
    return SPANPROF_OK;
  }
  if (!st)
    st = sp_mem_reserve(keys->mem, (void **)&keys->names, &keys->name_capacity,
                        known + 1, sizeof *keys->names);
  if (!st)
    st = keys_row(keys, &keys->function_row,
                  "SELECT name, file FROM function WHERE id=?1", function);
  if (st)
    return st;
  *out = keys->names[number] = (sp_frame_names){
      .name = (sp_row_id)sqlite3_column_int64(keys->function_row, 0),
      .file = (sp_row_id)sqlite3_column_int64(keys->function_row, 1)};
  return SPANPROF_OK;
}

/* Read the functions of a location. A location without lines has none, and its
 * address is not compared, because no view shows it. */
static spanprof_status keys_functions(sp_frame_keys *keys, sp_row_id location,
                                      sp_frame_names **out, uint32_t *count) {
  spanprof_status st =
      keys_row(keys, &keys->location_row,
               "SELECT lines FROM location WHERE id=?1", location);
  sp_column_reader reader;

  *count = 0;
  if (st)
    return st;
  reader =
      sp_column_reader_of(sqlite3_column_blob(keys->location_row, 0),
                          (size_t)sqlite3_column_bytes(keys->location_row, 0));
  *out = sp_arena_new(&keys->arena, (size_t)(reader.end - reader.at) / 2 + 1,
                      sizeof **out);
  if (!*out)
    return keys->arena.st;
  sp_get_number(&reader);
  while (!st && reader.at < reader.end && !reader.broken) {
    st = keys_names(keys, sp_get_number(&reader), &(*out)[*count]);
    sp_get_signed(&reader);
    ++*count;
  }
  return st;
}

/* Set the key of the location `number`, which is new. */
static spanprof_status keys_find(sp_frame_keys *keys, uint32_t number) {
  sp_frame_names *functions;
  uint32_t count, at, i;
  uint64_t hash;
  spanprof_status st =
      keys_functions(keys, keys->locations.ids[number], &functions, &count);

  if (st)
    return st;
  hash = sp_hash_bytes(functions, count * sizeof *functions);
  for (i = sp_index_first(&keys->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&keys->index, hash, &at))
    if (keys->function_counts[i] == count &&
        memcmp(keys->functions_of[i], functions, count * sizeof *functions) ==
            0) {
      keys->keys[number] = i;
      return SPANPROF_OK;
    }
  st = sp_index_reserve(&keys->index, keys->mem);
  if (st)
    return st;
  keys->functions_of[number] = functions;
  keys->function_counts[number] = count;
  keys->keys[number] = number;
  sp_index_add(&keys->index, hash, number);
  return SPANPROF_OK;
}

static spanprof_status keys_reserve(sp_frame_keys *keys, size_t count) {
  spanprof_status st =
      sp_mem_reserve(keys->mem, (void **)&keys->keys, &keys->key_capacity,
                     count, sizeof *keys->keys);

  if (!st)
    st = sp_mem_reserve(keys->mem, (void **)&keys->functions_of,
                        &keys->functions_of_capacity, count,
                        sizeof *keys->functions_of);
  return st ? st
            : sp_mem_reserve(keys->mem, (void **)&keys->function_counts,
                             &keys->function_count_capacity, count,
                             sizeof *keys->function_counts);
}

spanprof_status sp_frame_keys_get(sp_frame_keys *keys, sp_row_id location,
                                  uint32_t *key) {
  const size_t known = keys->locations.count;
  spanprof_status st =
      sp_row_numbers_get(&keys->locations, keys->mem, location, KEYS_MAX, key);

  if (st || !keys->merges_lines)
    return st;
  if (*key == known) {
    st = keys_reserve(keys, known + 1);
    if (!st)
      st = keys_find(keys, *key);
  }
  if (!st)
    *key = keys->keys[*key];
  return st;
}
