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

/* What is looked at in vain is forgotten each time that it takes so much. */
#define SERIES_TRIED_BYTES ((size_t)4 << 20)

typedef struct series_source {
  uint32_t id;
  size_t type_count;
  const char *types[SP_BLOCK_TYPES_MAX + 1][2]; /* the last: of the period */
  const char *type_ids[SP_BLOCK_TYPES_MAX];     /* "name:type:unit:…" */
  sp_text_pair *labels;
  size_t label_count;
  uint32_t counts; /* as of sp_select_entry */
  int64_t period;
  bool asks_series; /* a matcher is about what its series may have */
} series_source;

static spanprof_status series_no_memory(spanprof_status st) {
  return st == SPANPROF_ERR_LIMIT
             ? sp_fail(st, "the query takes too many series: narrow it down")
             : st;
}

static spanprof_status series_text(sp_text_cache *in, sp_column_reader *reader,
                                   const char **out) {
  return series_no_memory(
      sp_text_cache_get(in, (uint32_t)sp_get_number(reader), out));
}

/* Whether a label can make a difference to the selector. */
static bool series_asks(const sp_selector *selector, const char *name) {
  size_t i;

  for (i = 0; i < selector->matcher_count; i++)
    if (strcmp(selector->matchers[i].name, name) == 0)
      return true;
  return strcmp(name, "service_name") == 0; /* makes __service_name__ */
}

/* `only`: those that the selector asks for; NULL: all. */
static spanprof_status series_read_labels(sp_text_cache *in,
                                          sp_column_reader *reader,
                                          const sp_selector *only,
                                          sp_text_pair **out, size_t *count) {
  size_t all = sp_get_count(reader), i;
  spanprof_status st = SPANPROF_OK;

  *count = 0;
  if (all > SERIES_LABELS_MAX)
    all = 0;
  *out = sp_arena_new(&in->arena, all + 1, sizeof **out);
  if (!*out)
    return series_no_memory(in->arena.st);
  for (i = 0; !st && i < all; i++) {
    sp_text_pair *pair = &(*out)[*count];

    st = series_text(in, reader, &pair->name);
    if (!st && only && !series_asks(only, pair->name)) {
      sp_get_number(reader);
      continue;
    }
    if (!st)
      st = series_text(in, reader, &pair->value);
    ++*count;
  }
  return st;
}

static spanprof_status series_type_id(sp_text_cache *in, series_source *source,
                                      size_t type, const char *name) {
  const char *const *of = source->types[type];
  const char *const *period = source->types[source->type_count];
  const size_t room = strlen(name) + strlen(of[0]) + strlen(of[1]) +
                      strlen(period[0]) + strlen(period[1]) + 5;
  char *id = sp_arena_new(&in->arena, room, 1);

  if (!id)
    return series_no_memory(in->arena.st);
  snprintf(id, room, "%s:%s:%s:%s:%s", name, of[0], of[1], period[0],
           period[1]);
  source->type_ids[type] = id;
  if (strcmp(of[0], "samples") == 0 && strcmp(of[1], "count") == 0)
    source->counts = (uint32_t)type;
  return SPANPROF_OK;
}

static spanprof_status series_read_source(sp_text_cache *in,
                                          series_source *source,
                                          const void *bytes, size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  const char *name;
  sp_text_pairs labels;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  source->type_count = (size_t)sp_get_number(&reader);
  if (source->type_count > SP_BLOCK_TYPES_MAX)
    return sp_fail(SPANPROF_ERR_FORMAT, "a source of the store is damaged");
  for (i = 0; !st && i < 2 * (source->type_count + 1); i++)
    st = series_text(in, &reader, &source->types[i / 2][i % 2]);
  if (!st)
    st = series_read_labels(in, &reader, NULL, &source->labels,
                            &source->label_count);
  if (st)
    return st;
  labels = (sp_text_pairs){source->labels, source->label_count};
  name = sp_text_pairs_find(&labels, "__name__");
  /* Stores of before have no period there. */
  source->period = reader.at < reader.end ? sp_get_signed(&reader) : 0;
  source->counts = SP_SELECT_NO_COUNTS;
  for (i = 0; !st && i < source->type_count; i++)
    st = series_type_id(in, source, i, name ? name : "");
  return st;
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
static spanprof_status series_labels(sp_arena *arena,
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
      arena, source->label_count + own_count + SERIES_RESERVED, sizeof *pairs);
  const char *service;
  size_t i;

  if (!pairs)
    return series_no_memory(arena->st);
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
  spanprof_status st = sp_mem_reserve(select->mem, &array, &select->entry_room,
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

static bool series_has_type(const sp_select *select,
                            const series_source *source, size_t type) {
  const char *wanted = select->selector->profile_type;

  return !wanted || strcmp(wanted, source->type_ids[type]) == 0;
}

/* What was looked at before, in vain or not, is forgotten now and then. */
static sp_text_cache *series_tried(sp_select *select) {
  if (select->tried.arena.bytes > SERIES_TRIED_BYTES)
    sp_text_cache_clear(&select->tried);
  return &select->tried;
}

/* Which of a series' types the selector takes: bits of *types, and of those
 * that are about the samples' ids. */
static spanprof_status series_try(sp_select *select,
                                  const series_source *source,
                                  sp_column_reader reader, uint64_t *types,
                                  uint64_t *asks_spans) {
  sp_text_cache *tried = series_tried(select);
  sp_text_pair *own = NULL;
  sp_text_pairs labels;
  size_t own_count = 0, type;
  bool asks;
  spanprof_status st = SPANPROF_OK;

  *types = *asks_spans = 0;
  if (source->asks_series)
    st = series_read_labels(tried, &reader, select->selector, &own, &own_count);
  for (type = 0; !st && type < source->type_count; type++) {
    if (!series_has_type(select, source, type))
      continue;
    asks = false;
    if (source->asks_series) {
      st = series_labels(&tried->arena, source, type, own, own_count, &labels);
      if (st || !sp_select_labels_pass(select->selector, &labels, &asks))
        continue;
    }
    *types |= UINT64_C(1) << type;
    *asks_spans |= (uint64_t)asks << type;
  }
  return st;
}

/* The types of one series that the selector takes. */
static spanprof_status series_match(sp_select *select,
                                    const series_source *source, uint32_t id,
                                    const void *bytes, size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  sp_text_cache *kept = &select->kept;
  sp_select_entry entry = {.series = id, .counts = source->counts};
  sp_text_pair *own;
  size_t own_count, type;
  uint64_t types, asks;
  spanprof_status st = series_try(select, source, reader, &types, &asks);

  if (!st && types)
    st = series_read_labels(kept, &reader, NULL, &own, &own_count);
  for (type = 0; !st && type < source->type_count; type++) {
    if (!(types >> type & 1))
      continue;
    entry.type = (uint32_t)type;
    entry.period = series_period(source, type);
    entry.asks_spans = asks >> type & 1;
    st = series_labels(&kept->arena, source, type, own, own_count,
                       &entry.labels);
    if (!st)
      st = series_add(select, &entry);
  }
  return st;
}

/* Whether a source can have a series that is wanted: its types, and the labels
 * that all of its series have. */
static bool series_wanted(const sp_select *select, series_source *source) {
  const sp_text_pairs labels = {source->labels, source->label_count};
  const sp_selector *selector = select->selector;
  bool wanted = false;
  size_t i;

  for (i = 0; !wanted && i < source->type_count; i++)
    wanted = series_has_type(select, source, i);
  source->asks_series = false;
  for (i = 0; wanted && i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const char *value = strncmp(matcher->name, "__", 2) != 0
                            ? sp_text_pairs_find(&labels, matcher->name)
                            : NULL;

    if (value)
      wanted = sp_matcher_takes(matcher, value);
    else
      source->asks_series = true;
  }
  return wanted;
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
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW) {
    st = sp_cancel_step(select->selector->cancel);
    if (!st)
      st = series_match(select, source, (uint32_t)sqlite3_column_int64(each, 0),
                        sqlite3_column_blob(each, 1),
                        (size_t)sqlite3_column_bytes(each, 1));
  }
  sqlite3_finalize(each);
  return st;
}

/* A source with profiles in the range. */
static spanprof_status series_source_row(sp_select *select, sqlite3_stmt *row) {
  const void *bytes = sqlite3_column_blob(row, 1);
  const size_t size = (size_t)sqlite3_column_bytes(row, 1);
  series_source source = {.id = (uint32_t)sqlite3_column_int64(row, 0)};
  spanprof_status st =
      series_read_source(series_tried(select), &source, bytes, size);

  if (st || !series_wanted(select, &source))
    return st;
  st = series_read_source(&select->kept, &source, bytes, size);
  return st ? st : series_of_source(select, &source);
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

spanprof_status sp_select_load(sp_select *select, int64_t from_ns,
                               int64_t until_ns,
                               const sp_select_source **sources,
                               size_t *source_count) {
  sqlite3_stmt *each = NULL;
  sp_select_source *found;
  int64_t all;
  int code = SQLITE_DONE;
  size_t before;
  spanprof_status st;

  *source_count = 0;
  st = sp_database_number(select->db, "SELECT count(*) FROM source", &all);
  if (st)
    return st;
  found = sp_arena_new(&select->kept.arena, (size_t)all + 1, sizeof *found);
  *sources = found;
  if (!found)
    return series_no_memory(select->kept.arena.st);
  st = sp_database_prepare(
      select->db, &each,
      "SELECT id, key FROM source WHERE EXISTS(SELECT 1 "
      "FROM block WHERE block.source=source.id AND until_ns>=?1 "
      "AND from_ns<=?2)");
  if (!st) {
    sqlite3_bind_int64(each, 1, from_ns);
    sqlite3_bind_int64(each, 2, until_ns);
  }
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW) {
    before = select->entry_count;
    st = sp_cancel_step(select->selector->cancel);
    if (!st)
      st = series_source_row(select, each);
    if (select->entry_count > before)
      found[(*source_count)++] =
          (sp_select_source){.id = (uint32_t)sqlite3_column_int64(each, 0),
                             .asks_spans = series_ask_spans(select, before)};
  }
  sqlite3_finalize(each);
  if (select->entry_count)
    qsort(select->entries, select->entry_count, sizeof *select->entries,
          series_order);
  return st;
}
