#include "select.h"

#include <endian.h>
#include <string.h>

#include "server/store/block/stored_hash.h"

/* Memory limit for the labels and texts of a query. */
#define SELECT_BYTES_MAX ((size_t)96 << 20)

#define SELECT_NS_PER_MS 1000000

sp_profile_uuid sp_select_uuid(const sp_select *select,
                               const sp_block_profile *profile) {
  const uint64_t lo = sp_stored_mix(profile->hash, (uint64_t)profile->time_ns);
  const uint64_t hi = sp_stored_mix(lo, select->source + SP_STORED_SEED);
  const uint64_t ordered[2] = {htole64(hi), htole64(lo)};
  sp_profile_uuid uuid;

  memcpy(uuid.bytes, ordered, sizeof ordered);
  /* RFC 9562, section 5.8: the content of version 8 is specific to the
   * application. */
  uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0f) | 0x80);
  uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

static int64_t select_ms(int64_t ns) {
  return ns / SELECT_NS_PER_MS - (ns % SELECT_NS_PER_MS < 0);
}

static bool select_in_range(const sp_selector *selector, int64_t time_ns) {
  const int64_t ms = select_ms(time_ns);

  return selector->from_ms <= ms && ms <= selector->until_ms;
}

static sp_select_entry *select_first(const sp_select *select, uint32_t series) {
  size_t low = 0, high = select->entry_count;

  while (low < high) {
    const size_t middle = (low + high) / 2;

    if (select->entries[middle].series < series)
      low = middle + 1;
    else
      high = middle;
  }
  return low < select->entry_count && select->entries[low].series == series
             ? &select->entries[low]
             : NULL;
}

/* Returns whether an entry belongs to a series of the block. select->first must
 * have been set for the series. */
static bool select_has(const sp_select *select, const sp_select_entry *entry,
                       size_t series) {
  return entry && entry < select->entries + select->entry_count &&
         entry->series == select->first[series]->series;
}

/* Look up the first entry of each series of the block. *any is set if there are
 * any entries, and *any_ids and *all_ids if by_span_ids is true for any, or
 * all, of them. */
static spanprof_status select_block_series(sp_select *select, bool *any,
                                           bool *any_ids, bool *all_ids) {
  void *array = select->first;
  sp_select_entry *entry;
  spanprof_status st =
      sp_mem_reserve(select->mem, &array, &select->first_capacity,
                     select->block.series_count + 1, sizeof *select->first);
  size_t i;

  select->first = array;
  *any = *any_ids = false;
  *all_ids = true;
  for (i = 0; !st && i < select->block.series_count; i++) {
    select->first[i] = select_first(
        select, select->whole ? select->whole : select->block.series[i].id);
    for (entry = select->first[i]; select_has(select, entry, i); entry++)
      if (select->block.series[i].types >> entry->type & 1) {
        *any = true;
        *any_ids |= entry->by_span_ids;
        *all_ids &= entry->by_span_ids;
      }
  }
  return st;
}

/* Mark every entry of the block's series as having a profile in the range. */
static void select_block_seen(sp_select *select) {
  sp_select_entry *entry;
  size_t i;

  for (i = 0; i < select->block.series_count; i++)
    for (entry = select->first[i]; select_has(select, entry, i); entry++)
      entry->seen |= select->block.series[i].types >> entry->type & 1;
}

static bool select_profile_passes(const sp_select *select, uint32_t profile) {
  const sp_block_profile *of = &select->block.profiles[profile];

  return select_in_range(select->selector, of->time_ns) &&
         sp_select_profile_passes(select, of);
}

static bool select_sample_passes(sp_select *select,
                                 const sp_select_entry *entry,
                                 const sp_block_sample *sample) {
  static const sp_block_span none = {0};
  const sp_selector *selector = select->selector;
  const sp_block_span *span =
      sample->span ? &select->block.spans[sample->span - 1] : &none;
  uint8_t *known = &select->passes[sample->span];

  if (!entry->by_span_ids && !selector->span_count && !selector->trace_count)
    return true;
  if (entry->by_span_ids) /* whether the span matches depends on the series */
    return sp_select_span_passes(select, entry, span);
  if (!*known)
    *known = sp_select_span_passes(select, entry, span) ? 1 : 2;
  return *known == 1;
}

/* Process the samples of one profile and series, from `at` to `end`. *any is
 * set if at least one of them is selected. */
static spanprof_status select_run(sp_select *select, size_t at, size_t end,
                                  bool *any) {
  const sp_block *block = &select->block;
  const sp_block_sample *first = &block->samples[at];
  sp_select_entry *entry = select->first[first->series];
  spanprof_status st = SPANPROF_OK;
  size_t i;

  *any = false;
  for (; !st && select_has(select, entry, first->series); entry++)
    for (i = at; !st && i < end; i++) {
      const sp_block_sample *sample = &block->samples[i];

      st = sp_cancel_step(select->selector->cancel);
      if (st || block->values[sample->values + entry->type] == 0 ||
          !select_sample_passes(select, entry, sample))
        continue;
      entry->seen = true;
      *any = true;
      if (select->sink->sample)
        st = select->sink->sample(select->sink->data, entry, block, sample);
    }
  if (!st && *any && select->sink->run_end)
    st = select->sink->run_end(select->sink->data, block, first);
  return st;
}

static spanprof_status select_samples(sp_select *select, bool totals) {
  const sp_block *block = &select->block;
  void *array = select->passes;
  spanprof_status st = sp_mem_reserve(
      select->mem, &array, &select->passes_capacity, block->span_count + 1, 1);
  uint32_t last = UINT32_MAX;
  size_t at, end;
  bool any;

  select->passes = array;
  if (st)
    return st;
  memset(select->passes, 0, block->span_count + 1);
  for (at = 0; !st && at < block->sample_count; at = end) {
    const sp_block_sample *first = &block->samples[at];

    for (end = at + 1; end < block->sample_count &&
                       block->samples[end].profile == first->profile &&
                       block->samples[end].series == first->series;
         end++)
      ;
    if (!select->first[first->series] ||
        (!totals && !select_profile_passes(select, first->profile)))
      continue;
    st = select_run(select, at, end, &any);
    if (!any || totals)
      continue;
    select->profile_count += first->profile != last;
    last = first->profile;
  }
  return st;
}

/* Get a part of a block, valid until the next call for the same part. Each part
 * is read with its own query, because a row may have megabytes. */
static spanprof_status select_part(sp_select *select, sp_select_part part,
                                   int64_t id, const void **bytes,
                                   size_t *size) {
  static const char *const queries[SP_SELECT_PARTS] = {
      [SP_SELECT_HEAD] = "SELECT head FROM block WHERE id=?1",
      [SP_SELECT_FILTER] = "SELECT filter FROM block WHERE id=?1",
      [SP_SELECT_TOTALS] = "SELECT totals FROM block WHERE id=?1",
      [SP_SELECT_SPANS] = "SELECT spans FROM block WHERE id=?1",
      [SP_SELECT_BODY] = "SELECT body FROM block WHERE id=?1",
  };
  sqlite3_stmt **row = &select->parts[part];
  spanprof_status st = sp_database_prepare(select->db, row, queries[part]);
  int code;

  if (st)
    return st;
  sqlite3_reset(*row);
  sqlite3_bind_int64(*row, 1, id);
  st = sp_database_step(*row, &code);
  if (st)
    return st;
  *bytes = sqlite3_column_blob(*row, 0);
  *size = (size_t)sqlite3_column_bytes(*row, 0);
  return SPANPROF_OK;
}

/* Check whether the block's filter may contain the wanted ids. */
static spanprof_status select_filter(sp_select *select, int64_t id,
                                     bool matchers, bool *passes) {
  const void *bytes;
  size_t size;
  spanprof_status st = select_part(select, SP_SELECT_FILTER, id, &bytes, &size);

  if (!st)
    *passes = sp_wanted_ids_pass_filter(&select->wanted, matchers, bytes, size);
  return st;
}

static spanprof_status select_head(sp_select *select, int64_t id) {
  const void *bytes;
  size_t size;
  spanprof_status st = select_part(select, SP_SELECT_HEAD, id, &bytes, &size);

  return st ? st : sp_block_read_head(&select->block, bytes, size);
}

/* Process the samples of a block, unless none of its spans has the wanted ids.
 * `matchers` is for sp_wanted_ids_pass(). */
static spanprof_status select_body(sp_select *select, int64_t id,
                                   bool matchers) {
  const void *bytes;
  size_t size;
  spanprof_status st = select_part(select, SP_SELECT_SPANS, id, &bytes, &size);

  if (!st)
    st = sp_block_read_spans(&select->block, bytes, size);
  if (st ||
      !sp_wanted_ids_pass_spans(&select->wanted, matchers, &select->block))
    return st;
  st = select_part(select, SP_SELECT_BODY, id, &bytes, &size);
  if (!st)
    st = sp_block_read_body(&select->block, bytes, size);
  return st ? st : select_samples(select, false);
}

/* Process the block's totals instead of its samples. *has is set if the block
 * has totals with presences; without them, nothing is done. */
static spanprof_status select_totals(sp_select *select, int64_t id, bool *has) {
  const void *bytes;
  size_t size;
  spanprof_status st = select_part(select, SP_SELECT_TOTALS, id, &bytes, &size);

  *has = false;
  if (st || !size)
    return st;
  st = sp_block_read_totals(&select->block, bytes, size);
  if (st || !select->block.presence_count)
    return st;
  *has = true;
  select->profile_count += sp_select_profiles(select);
  return select_samples(select, true);
}

/* Process a block. `whole` is true if all of its profiles are in the range. */
static spanprof_status select_block(sp_select *select, int64_t id, bool whole) {
  const sp_select_sink *sink = select->sink;
  bool any, any_ids, all_ids, passes = true, done = false;
  spanprof_status st = SPANPROF_OK;

  /* The filter is read first, because it excludes nearly all blocks of a long
   * range. */
  if (select->wanted.list_count)
    st = select_filter(select, id, false, &passes);
  if (!st && passes)
    st = select_head(select, id);
  if (st || !passes)
    return st;
  st = select_block_series(select, &any, &any_ids, &all_ids);
  if (st || !any)
    return st;
  if (all_ids && select->wanted.count > select->wanted.list_count)
    st = select_filter(select, id, true, &passes);
  if (st || !passes)
    return st;
  if (whole && !any_ids && !select->wanted.list_count &&
      !select->selector->profile_count) {
    if (sink->presence) {
      select_block_seen(select);
      return SPANPROF_OK;
    }
    if (sink->totals)
      st = select_totals(select, id, &done);
  }
  return st || done ? st : select_body(select, id, all_ids);
}

static int64_t select_ns(int64_t ms, int64_t more) {
  int64_t ns;

  if (__builtin_mul_overflow(ms, SELECT_NS_PER_MS, &ns) ||
      __builtin_add_overflow(ns, more, &ns))
    return ms < 0 ? INT64_MIN : INT64_MAX;
  return ns;
}

/* Returns whether the remaining blocks of the source cannot change the result.
 */
static bool select_all_seen(const sp_select *select) {
  const sp_select_entry *end = select->entries + select->entry_count;
  const sp_select_entry *entry =
      select->whole ? select_first(select, select->whole) : NULL;

  while (entry && entry < end && entry->series == select->whole && entry->seen)
    entry++;
  return entry && (entry == end || entry->series != select->whole);
}

static spanprof_status select_source(sp_select *select, sqlite3_stmt *rows,
                                     const sp_select_source *source) {
  const sp_selector *selector = select->selector;
  const bool runs =
      source->by_span_ids || select->wanted.count == select->wanted.list_count;
  spanprof_status st = SPANPROF_OK;
  int code = SQLITE_DONE;

  select->source = source->id;
  select->whole = source->whole;
  sqlite3_bind_int64(rows, 1, source->id);
  while (!st && !select_all_seen(select) &&
         !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    const int64_t id = sqlite3_column_int64(rows, 0);

    st = sp_cancel_check(selector->cancel);
    if (!st && (!runs || !sp_block_runs_have(&select->without, id)))
      st = select_block(
          select, id,
          select_in_range(selector, sqlite3_column_int64(rows, 1)) &&
              select_in_range(selector, sqlite3_column_int64(rows, 2)));
  }
  sqlite3_reset(rows);
  return st;
}

/* Process the blocks of each source. The query reads only columns of an index,
 * and not the rows of skipped blocks. */
static spanprof_status select_walk(sp_select *select) {
  const sp_selector *selector = select->selector;
  const int64_t from_ns = select_ns(selector->from_ms, 0);
  const int64_t until_ns = select_ns(selector->until_ms, SELECT_NS_PER_MS - 1);
  const sp_select_source *sources;
  sqlite3_stmt *rows = NULL;
  size_t count = 0, i;
  spanprof_status st = sp_select_sort_ids(select);

  if (!st)
    st = sp_select_load(select, from_ns, until_ns, &sources, &count);
  if (!st)
    st = sp_wanted_ids_read(&select->wanted, selector, select->mem);
  if (!st)
    st = sp_wide_filter_find(&select->without, select->mem, select->db,
                             &select->wanted, from_ns, until_ns);
  if (!st)
    st = sp_database_prepare(select->db, &rows,
                             "SELECT id, from_ns, until_ns FROM block WHERE "
                             "source=?1 AND until_ns>=?2 AND from_ns<=?3");
  if (!st) {
    sqlite3_bind_int64(rows, 2, from_ns);
    sqlite3_bind_int64(rows, 3, until_ns);
  }
  for (i = 0; !st && i < count; i++)
    st = select_source(select, rows, &sources[i]);
  sqlite3_finalize(rows);
  return st;
}

spanprof_status sp_select_run(sp_select *select, sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_select_sink *sink) {
  *select = (sp_select){.store = store,
                        .mem = sp_select_mem(store, selector),
                        .db = db,
                        .selector = selector,
                        .sink = sink};
  sp_block_init(&select->block, select->mem);
  sp_text_cache_init(&select->kept, select->mem, db, SELECT_BYTES_MAX);
  sp_text_cache_init(&select->tried, select->mem, db, SELECT_BYTES_MAX);
  return select_walk(select);
}

void sp_select_dispose(sp_select *select) {
  const sp_mem *mem = select->mem;
  size_t i;

  for (i = 0; i < SP_SELECT_PARTS; i++)
    sqlite3_finalize(select->parts[i]);
  sp_text_cache_dispose(&select->kept);
  sp_text_cache_dispose(&select->tried);
  sp_wanted_ids_dispose(&select->wanted, mem);
  sp_block_runs_dispose(&select->without, mem);
  sp_block_dispose(&select->block);
  sp_mem_free(mem, select->span_ids);
  sp_mem_free(mem, select->trace_ids);
  sp_mem_free(mem, select->profiles);
  sp_mem_free(mem, select->entries);
  sp_mem_free(mem, select->first);
  sp_mem_free(mem, select->passes);
}
