#include "series_limit.h"

#include "server/store/block/columns.h"

/* Of the new series beyond a limit, the first LIMIT_NAMES keep their label
 * names, with the value "[other]". The next series, up to the number LIMIT_FEW,
 * keep only a few labels, because clients can send any number of label names.
 * All later series are refused. */
#define LIMIT_NAMES 100
#define LIMIT_FEW   1000

typedef struct sp_series_application {
  sp_row_id name; /* id of the name's text; 0: none */
  uint64_t count;
} sp_series_application;

void sp_series_limit_init(sp_series_limit *limit, const sp_mem *mem,
                          uint64_t max, uint64_t max_per_application) {
  *limit = (sp_series_limit){
      .mem = mem, .max = max, .max_per_application = max_per_application};
}

void sp_series_limit_forget(sp_series_limit *limit) {
  limit->counted = false;
}

void sp_series_limit_dispose(sp_series_limit *limit) {
  sp_index_dispose(&limit->index, limit->mem);
  sp_mem_free(limit->mem, limit->applications);
}

static sp_series_application *limit_find(const sp_series_limit *limit,
                                         sp_row_id name) {
  const uint64_t hash = sp_hash_mix(SP_HASH_SEED, name);
  uint32_t at, i;

  for (i = sp_index_first(&limit->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&limit->index, hash, &at))
    if (limit->applications[i].name == name)
      return &limit->applications[i];
  return NULL;
}

spanprof_status sp_series_limit_add(sp_series_limit *limit,
                                    sp_row_id application, uint64_t count) {
  sp_series_application *of = limit_find(limit, application);
  void *array = limit->applications;
  spanprof_status st = SPANPROF_OK;

  limit->count += count;
  if (of) {
    of->count += count;
    return st;
  }
  st = sp_index_reserve(&limit->index, limit->mem);
  if (!st)
    st = sp_mem_reserve(limit->mem, &array, &limit->application_capacity,
                        limit->application_count + 1, sizeof *of);
  limit->applications = array;
  if (st) {
    sp_series_limit_forget(limit);
    return st;
  }
  sp_index_add(&limit->index, sp_hash_mix(SP_HASH_SEED, application),
               (uint32_t)limit->application_count);
  limit->applications[limit->application_count++] =
      (sp_series_application){.name = application, .count = count};
  return SPANPROF_OK;
}

/* Get the id of the application's name from a source: its value for the label
 * with the id `label`. The bytes of a source are the types with their units,
 * the period's type, and then the labels. */
static sp_row_id limit_application(sqlite3_stmt *source, uint64_t label) {
  const void *bytes = sqlite3_column_blob(source, 0);
  sp_column_reader reader =
      sp_column_reader_of(bytes, (size_t)sqlite3_column_bytes(source, 0));
  uint64_t count, name, value;

  for (count = 2 * (sp_get_count(&reader) + 1); count; count--)
    sp_get_number(&reader);
  for (count = sp_get_count(&reader); count && !reader.broken; count--) {
    name = sp_get_number(&reader);
    value = sp_get_number(&reader);
    if (name == label)
      return value;
  }
  return 0;
}

static spanprof_status limit_count(sp_series_limit *limit, sqlite3 *db) {
  sqlite3_stmt *sources = NULL;
  int code = SQLITE_DONE;
  int64_t label;
  spanprof_status st = sp_database_number(
      db, "SELECT id FROM text WHERE text='service_name'", &label);

  limit->count = limit->application_count = 0;
  sp_index_clear(&limit->index);
  if (!st)
    st = sp_database_prepare(db, &sources,
                             "SELECT key, (SELECT count(*) FROM series WHERE "
                             "series.source=source.id) FROM source");
  while (!st && !(st = sp_database_step(sources, &code)) && code == SQLITE_ROW)
    st = sp_series_limit_add(limit, limit_application(sources, (uint64_t)label),
                             (uint64_t)sqlite3_column_int64(sources, 1));
  sqlite3_finalize(sources);
  limit->counted = !st;
  return st;
}

static sp_series_allowance limit_allowance(uint64_t count, uint64_t max) {
  if (!max || count < max)
    return SP_SERIES_ALL;
  if (count < max + LIMIT_NAMES)
    return SP_SERIES_NAMES;
  return count < max + LIMIT_FEW ? SP_SERIES_FEW : SP_SERIES_NONE;
}

spanprof_status sp_series_limit_allowance(sp_series_limit *limit, sqlite3 *db,
                                          sp_row_id application,
                                          sp_series_allowance *allowed,
                                          bool *all_full) {
  const sp_series_application *of;
  sp_series_allowance all;
  spanprof_status st = SPANPROF_OK;

  *allowed = SP_SERIES_ALL;
  *all_full = false;
  if (!limit->max && !limit->max_per_application)
    return SPANPROF_OK;
  if (!limit->counted)
    st = limit_count(limit, db);
  if (st)
    return st;
  of = limit_find(limit, application);
  *allowed = limit_allowance(of ? of->count : 0, limit->max_per_application);
  all = limit_allowance(limit->count, limit->max);
  *all_full = all != SP_SERIES_ALL;
  if (all > *allowed)
    *allowed = all;
  return SPANPROF_OK;
}
