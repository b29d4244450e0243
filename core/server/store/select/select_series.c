#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select_source.h"
#include "server/store/block/columns.h"
#include "util/system/status.h"

/* Texts of series that did not match are freed each time they reach this size.
 */
#define SERIES_TRIED_BYTES ((size_t)4 << 20)

static spanprof_status series_add(sp_select *select,
                                  const sp_select_entry *entry) {
  void *array = select->entries;
  spanprof_status st =
      sp_mem_reserve(select->mem, &array, &select->entry_capacity,
                     select->entry_count + 1, sizeof *entry);

  select->entries = array;
  if (!st)
    select->entries[select->entry_count++] = *entry;
  return st;
}

/* Returns the period of a sample in the unit of the type. A period with another
 * unit is ignored: the period of Go's heap profiles ("space") is not the period
 * of inuse_space. */
static int64_t series_period(const sp_series_source *source, size_t type) {
  const char *unit = source->types[source->type_count][1];

  return source->period > 0 && strcmp(unit, source->types[type][1]) == 0
             ? source->period
             : 0;
}

static bool series_has_type(const sp_select *select,
                            const sp_series_source *source, size_t type) {
  const char *wanted = select->selector->profile_type;

  return !wanted || sp_profile_type_matches(wanted, source->type_ids[type]);
}

/* Returns the cache for texts of series while it is not known whether they
 * match. Clears the cache when it is large. */
static sp_text_cache *series_tried(sp_select *select) {
  if (select->tried.arena.bytes > SERIES_TRIED_BYTES)
    sp_text_cache_clear(&select->tried);
  return &select->tried;
}

/* Get the types of a series that match the selector, as bits of *types, and the
 * types whose match also depends on the span or trace ids of samples. */
static spanprof_status series_try(sp_select *select,
                                  const sp_series_source *source,
                                  sp_column_reader reader, uint64_t *types,
                                  uint64_t *by_span_ids) {
  sp_text_cache *tried = series_tried(select);
  sp_text_pair *own = NULL;
  sp_text_pairs labels;
  size_t own_count = 0, type;
  bool by_ids;
  spanprof_status st = SPANPROF_OK;

  *types = *by_span_ids = 0;
  if (source->needs_series)
    st = sp_series_read_labels(tried, &reader, select->selector, &own,
                               &own_count);
  for (type = 0; !st && type < source->type_count; type++) {
    if (!series_has_type(select, source, type))
      continue;
    by_ids = false;
    if (source->needs_series) {
      st = sp_series_labels(&tried->arena, source, type, own, own_count,
                            &labels);
      if (st || !sp_select_labels_pass(select->selector, &labels, &by_ids))
        continue;
    }
    *types |= UINT64_C(1) << type;
    *by_span_ids |= (uint64_t)by_ids << type;
  }
  return st;
}

/* Add an entry for each matching type of one series. */
static spanprof_status series_match(sp_select *select,
                                    const sp_series_source *source, uint32_t id,
                                    const void *bytes, size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  sp_text_cache *kept = &select->kept;
  sp_select_entry entry = {.series = id, .counts = source->counts};
  sp_text_pair *own;
  size_t own_count, type;
  uint64_t types, by_ids;
  spanprof_status st = series_try(select, source, reader, &types, &by_ids);

  if (!st && types)
    st = sp_series_read_labels(kept, &reader, NULL, &own, &own_count);
  for (type = 0; !st && type < source->type_count; type++) {
    if (!(types >> type & 1))
      continue;
    entry.type = (uint32_t)type;
    entry.period = series_period(source, type);
    entry.by_span_ids = by_ids >> type & 1;
    st = sp_series_labels(&kept->arena, source, type, own, own_count,
                          &entry.labels);
    if (!st)
      st = series_add(select, &entry);
  }
  return st;
}

/* Returns whether a source may have a series that matches, judged by its types
 * and the labels that all of its series have. */
static bool series_wanted(const sp_select *select, sp_series_source *source) {
  const sp_text_pairs labels = {source->labels, source->label_count};
  const sp_selector *selector = select->selector;
  bool wanted = false;
  size_t i;

  for (i = 0; !wanted && i < source->type_count; i++)
    wanted = series_has_type(select, source, i);
  source->needs_series = false;
  for (i = 0; wanted && i < selector->matcher_count; i++) {
    const sp_matcher *matcher = &selector->matchers[i];
    const char *value = strncmp(matcher->name, "__", 2) != 0
                            ? sp_text_pairs_find(&labels, matcher->name)
                            : NULL;

    if (value)
      wanted = sp_matcher_accepts(matcher, value);
    else
      source->needs_series = true;
  }
  return wanted;
}

/* Returns whether a label has the same value in all series of a source and
 * type. */
static bool series_is_fixed(const sp_series_source *source, const char *name) {
  static const char *const made[] = {"__type__", "__unit__", "__period_type__",
                                     "__period_unit__", "__profile_type__"};
  const sp_text_pairs labels = {source->labels, source->label_count};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(made); i++)
    if (strcmp(name, made[i]) == 0)
      return true;
  if (strcmp(name, "__service_name__") == 0)
    name = "service_name";
  return sp_text_pairs_find(&labels, name) != NULL;
}

/* Returns whether the selector and the caller use only labels that are the same
 * in all series of the source, so that its series need not be read. */
static bool series_are_alike(const sp_select *select,
                             const sp_series_source *source) {
  const sp_store_names *names = &select->sink->names;
  const sp_selector *selector = select->selector;
  size_t i;

  if (!select->sink->presence || !names->count || selector->span_count ||
      selector->trace_count || selector->profile_count)
    return false;
  for (i = 0; i < names->count; i++)
    if (!series_is_fixed(source, names->names[i]))
      return false;
  for (i = 0; i < selector->matcher_count; i++)
    if (!series_is_fixed(source, selector->matchers[i].name))
      return false;
  return true;
}

/* Add one entry for each matching type of the source, for all its series
 * together. */
static spanprof_status series_of_whole(sp_select *select,
                                       const sp_series_source *source,
                                       uint32_t whole) {
  sp_select_entry entry = {.series = whole, .counts = source->counts};
  spanprof_status st = SPANPROF_OK;
  bool by_ids;
  size_t type;

  for (type = 0; !st && type < source->type_count; type++) {
    if (!series_has_type(select, source, type))
      continue;
    st = sp_series_labels(&select->kept.arena, source, type, NULL, 0,
                          &entry.labels);
    if (st || !sp_select_labels_pass(select->selector, &entry.labels, &by_ids))
      continue;
    entry.type = (uint32_t)type;
    entry.period = series_period(source, type);
    st = series_add(select, &entry);
  }
  return st;
}

static spanprof_status series_of_source(sp_select *select,
                                        const sp_series_source *source) {
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

/* Add a source with profiles in the range. On entry, *whole is an unused series
 * number. If all series of the source are selected as one, they get this
 * number; else *whole is set to 0. */
static spanprof_status series_source_row(sp_select *select, sqlite3_stmt *row,
                                         uint32_t *whole) {
  const void *bytes = sqlite3_column_blob(row, 1);
  const size_t size = (size_t)sqlite3_column_bytes(row, 1);
  sp_series_source source = {.id = (uint32_t)sqlite3_column_int64(row, 0)};
  spanprof_status st =
      sp_series_source_read(series_tried(select), &source, bytes, size);

  if (st || !series_wanted(select, &source))
    return st;
  st = sp_series_source_read(&select->kept, &source, bytes, size);
  if (!st && series_are_alike(select, &source))
    return series_of_whole(select, &source, *whole);
  *whole = 0;
  return st ? st : series_of_source(select, &source);
}

static int series_order(const void *a_of, const void *b_of) {
  const sp_select_entry *a = a_of, *b = b_of;

  if (a->series != b->series)
    return a->series < b->series ? -1 : 1;
  return a->type < b->type ? -1 : a->type > b->type;
}

/* Returns whether all entries from `first` on depend on the span or trace ids
 * of samples. */
static bool series_are_by_ids(const sp_select *select, size_t first) {
  for (; first < select->entry_count; first++)
    if (!select->entries[first].by_span_ids)
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
    return sp_series_no_memory(select->kept.arena.st);
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
    uint32_t whole = UINT32_MAX - (uint32_t)*source_count;

    before = select->entry_count;
    st = sp_cancel_step(select->selector->cancel);
    if (!st)
      st = series_source_row(select, each, &whole);
    if (select->entry_count > before)
      found[(*source_count)++] =
          (sp_select_source){.id = (uint32_t)sqlite3_column_int64(each, 0),
                             .whole = whole,
                             .by_span_ids = series_are_by_ids(select, before)};
  }
  sqlite3_finalize(each);
  if (select->entry_count)
    qsort(select->entries, select->entry_count, sizeof *select->entries,
          series_order);
  return st;
}
