#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../util/status.h"
#include "columns.h"
#include "select.h"

/* The labels that are made of a profile's type. */
#define SERIES_RESERVED 6

/* What a selection may take for labels. */
#define SERIES_LABELS_MAX 1024

typedef struct series_source {
  uint32_t id;
  size_t type_count;
  const char *types[SP_BLOCK_TYPES_MAX + 1][2]; /* the last: of the period */
  const char *type_ids[SP_BLOCK_TYPES_MAX];     /* "name:type:unit:…" */
  sp_text_pair *labels;
  size_t label_count;
  uint32_t counts; /* as of sp_select_entry */
  int64_t period;
} series_source;

static spanprof_status series_no_memory(const sp_select *select) {
  return select->arena.st == SPANPROF_ERR_LIMIT
             ? sp_fail(SPANPROF_ERR_LIMIT,
                       "the query takes too many series: narrow it down")
             : select->arena.st;
}

spanprof_status sp_select_text(sp_select *select, uint32_t id,
                               const char **out) {
  void *array = select->texts;
  const size_t before = select->text_room;
  spanprof_status st;
  int code;
  char *copy;
  size_t size;

  *out = "";
  st = sp_mem_reserve(select->store->mem, &array, &select->text_room,
                      (size_t)id + 1, sizeof *select->texts);
  select->texts = array;
  if (st)
    return st;
  memset(select->texts + before, 0,
         (select->text_room - before) * sizeof *select->texts);
  if (!select->texts[id]) {
    st = sp_database_prepare(select->db, &select->text,
                             "SELECT text FROM text WHERE id=?1");
    if (st)
      return st;
    sqlite3_bind_int64(select->text, 1, id);
    st = sp_database_step(select->text, &code);
    if (!st && code == SQLITE_ROW) {
      size = (size_t)sqlite3_column_bytes(select->text, 0);
      copy = sp_arena_new(&select->arena, size + 1, 1);
      if (copy && size)
        memcpy(copy, sqlite3_column_text(select->text, 0), size);
      select->texts[id] = copy;
      st = copy ? SPANPROF_OK : series_no_memory(select);
    }
    sqlite3_reset(select->text);
  }
  if (!st && select->texts[id])
    *out = select->texts[id];
  return st;
}

static spanprof_status series_read_labels(sp_select *select,
                                          sp_column_reader *reader,
                                          sp_text_pair **out, size_t *count) {
  spanprof_status st = SPANPROF_OK;
  size_t i;

  *count = sp_get_count(reader);
  if (*count > SERIES_LABELS_MAX)
    *count = 0;
  *out = sp_arena_new(&select->arena, *count + 1, sizeof **out);
  if (!*out)
    return series_no_memory(select);
  for (i = 0; !st && i < *count; i++) {
    st = sp_select_text(select, (uint32_t)sp_get_number(reader),
                        &(*out)[i].name);
    if (!st)
      st = sp_select_text(select, (uint32_t)sp_get_number(reader),
                          &(*out)[i].value);
  }
  return st;
}

static spanprof_status series_read_source(sp_select *select,
                                          series_source *source,
                                          const void *bytes, size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  const char *name, *const *period;
  sp_text_pairs labels;
  spanprof_status st = SPANPROF_OK;
  size_t i, room;
  char *id;

  source->type_count = (size_t)sp_get_number(&reader);
  if (source->type_count > SP_BLOCK_TYPES_MAX)
    return sp_fail(SPANPROF_ERR_FORMAT, "a source of the store is damaged");
  for (i = 0; !st && i < 2 * (source->type_count + 1); i++)
    st = sp_select_text(select, (uint32_t)sp_get_number(&reader),
                        &source->types[i / 2][i % 2]);
  if (!st)
    st = series_read_labels(select, &reader, &source->labels,
                            &source->label_count);
  if (st)
    return st;
  labels = (sp_text_pairs){source->labels, source->label_count};
  name = sp_text_pairs_find(&labels, "__name__");
  name = name ? name : "";
  period = source->types[source->type_count];
  /* Stores of before have no period there. */
  source->period = reader.at < reader.end ? sp_get_signed(&reader) : 0;
  source->counts = SP_SELECT_NO_COUNTS;
  for (i = 0; i < source->type_count; i++) {
    if (strcmp(source->types[i][0], "samples") == 0 &&
        strcmp(source->types[i][1], "count") == 0)
      source->counts = (uint32_t)i;
    room = strlen(name) + strlen(source->types[i][0]) +
           strlen(source->types[i][1]) + strlen(period[0]) + strlen(period[1]) +
           5;
    id = sp_arena_new(&select->arena, room, 1);
    if (!id)
      return series_no_memory(select);
    snprintf(id, room, "%s:%s:%s:%s:%s", name, source->types[i][0],
             source->types[i][1], period[0], period[1]);
    source->type_ids[i] = id;
  }
  return SPANPROF_OK;
}

static void series_insert(sp_text_pairs *labels, sp_text_pair *pairs,
                          const char *name, const char *value, bool replace) {
  size_t at;
  int order = 1;

  for (at = 0; at < labels->count; at++) {
    order = strcmp(name, pairs[at].name);
    if (order <= 0)
      break;
  }
  if (order == 0) {
    if (replace)
      pairs[at].value = value;
    return;
  }
  memmove(&pairs[at + 1], &pairs[at], (labels->count - at) * sizeof *pairs);
  pairs[at] = (sp_text_pair){.name = name, .value = value};
  labels->count++;
}

/* All labels of a series and type; those of the upload win over the samples'.
 */
static spanprof_status series_labels(sp_select *select,
                                     const series_source *source, size_t type,
                                     const sp_text_pair *own, size_t own_count,
                                     sp_text_pairs *out) {
  const char *const *period = source->types[source->type_count];
  const char *const made[SERIES_RESERVED - 1][2] = {
      {"__type__", source->types[type][0]},
      {"__unit__", source->types[type][1]},
      {"__period_type__", period[0]},
      {"__period_unit__", period[1]},
      {"__profile_type__", source->type_ids[type]},
  };
  sp_text_pair *pairs = sp_arena_new(
      &select->arena, source->label_count + own_count + SERIES_RESERVED,
      sizeof *pairs);
  const char *service;
  size_t i;

  if (!pairs)
    return series_no_memory(select);
  *out = (sp_text_pairs){.pairs = pairs};
  for (i = 0; i < source->label_count; i++)
    series_insert(out, pairs, source->labels[i].name, source->labels[i].value,
                  false);
  for (i = 0; i < own_count; i++)
    series_insert(out, pairs, own[i].name, own[i].value, false);
  for (i = 0; i < SP_COUNT_OF(made); i++)
    if (*made[i][1])
      series_insert(out, pairs, made[i][0], made[i][1], true);
  service = sp_text_pairs_find(out, "service_name");
  if (service)
    series_insert(out, pairs, "__service_name__", service, true);
  return SPANPROF_OK;
}

static spanprof_status series_add(sp_select *select,
                                  const sp_select_entry *entry) {
  void *array = select->entries;
  spanprof_status st =
      sp_mem_reserve(select->store->mem, &array, &select->entry_room,
                     select->entry_count + 1, sizeof *entry);

  select->entries = array;
  if (!st)
    select->entries[select->entry_count++] = *entry;
  return st;
}

/* A period of another unit says nothing: Go's "space" is of inuse_space. */
static int64_t series_period(const series_source *source, size_t type) {
  const char *unit = source->types[source->type_count][1];

  return source->period > 0 && strcmp(unit, source->types[type][1]) == 0
             ? source->period
             : 0;
}

/* The types of one series that the selector takes. */
static spanprof_status series_match(sp_select *select,
                                    const series_source *source, uint32_t id,
                                    const void *bytes, size_t size) {
  const char *wanted = select->selector->profile_type;
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  sp_select_entry entry = {.series = id};
  sp_text_pair *own;
  size_t own_count, type;
  spanprof_status st = series_read_labels(select, &reader, &own, &own_count);

  for (type = 0; !st && type < source->type_count; type++) {
    if (wanted && strcmp(wanted, source->type_ids[type]) != 0)
      continue;
    entry.type = (uint32_t)type;
    entry.counts = source->counts;
    entry.period = series_period(source, type);
    st = series_labels(select, source, type, own, own_count, &entry.labels);
    if (!st && sp_select_labels_pass(select->selector, &entry.labels,
                                     &entry.asks_spans))
      st = series_add(select, &entry);
  }
  return st;
}

static bool series_wanted(const sp_select *select,
                          const series_source *source) {
  size_t i;

  for (i = 0; select->selector->profile_type && i < source->type_count; i++)
    if (strcmp(select->selector->profile_type, source->type_ids[i]) == 0)
      return true;
  return !select->selector->profile_type;
}

static spanprof_status series_of_source(sp_select *select,
                                        const series_source *source) {
  sqlite3_stmt *each = NULL;
  int code = SQLITE_DONE;
  spanprof_status st = sp_database_prepare(
      select->db, &each, "SELECT id, labels FROM series WHERE source=?1");

  if (st)
    return st;
  sqlite3_bind_int64(each, 1, source->id);
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW)
    st = series_match(select, source, (uint32_t)sqlite3_column_int64(each, 0),
                      sqlite3_column_blob(each, 1),
                      (size_t)sqlite3_column_bytes(each, 1));
  sqlite3_finalize(each);
  return st;
}

static int series_order(const void *a_of, const void *b_of) {
  const sp_select_entry *a = a_of, *b = b_of;

  if (a->series != b->series)
    return a->series < b->series ? -1 : 1;
  return a->type < b->type ? -1 : a->type > b->type;
}

/* Whether all entries from `first` on are about the samples' ids. */
static bool series_ask_spans(const sp_select *select, size_t first) {
  for (; first < select->entry_count; first++)
    if (!select->entries[first].asks_spans)
      return false;
  return true;
}

spanprof_status sp_select_load(sp_select *select,
                               const sp_select_source **sources,
                               size_t *source_count) {
  sqlite3_stmt *each = NULL;
  series_source source;
  sp_select_source *found;
  int64_t all;
  int code = SQLITE_DONE;
  size_t before;
  spanprof_status st;

  *source_count = 0;
  st = sp_database_number(select->db, "SELECT count(*) FROM source", &all);
  if (st)
    return st;
  found = sp_arena_new(&select->arena, (size_t)all + 1, sizeof *found);
  *sources = found;
  if (!found)
    return series_no_memory(select);
  st = sp_database_prepare(select->db, &each, "SELECT id, key FROM source");
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW) {
    source.id = (uint32_t)sqlite3_column_int64(each, 0);
    before = select->entry_count;
    st = series_read_source(select, &source, sqlite3_column_blob(each, 1),
                            (size_t)sqlite3_column_bytes(each, 1));
    if (!st && series_wanted(select, &source))
      st = series_of_source(select, &source);
    if (select->entry_count > before)
      found[(*source_count)++] = (sp_select_source){
          .id = source.id, .asks_spans = series_ask_spans(select, before)};
  }
  sqlite3_finalize(each);
  if (select->entry_count)
    qsort(select->entries, select->entry_count, sizeof *select->entries,
          series_order);
  return st;
}
