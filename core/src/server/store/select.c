#include "select.h"

#include <string.h>

#include "../../util/status.h"

/* What a selection may take for labels and texts. */
#define SELECT_BYTES_MAX ((size_t)96 << 20)

#define SELECT_NS_PER_MS 1000000

/* Columns of the rows that are walked. */
enum {
  SELECT_FROM,
  SELECT_UNTIL,
  SELECT_PROFILES,
  SELECT_HEAD,
  SELECT_FILTER,
  SELECT_TOTALS,
  SELECT_SPANS,
  SELECT_BODY,
};

sp_profile_uuid sp_select_uuid(const sp_select *select,
                               const sp_block_profile *profile) {
  const uint64_t lo = sp_hash_mix(profile->hash, (uint64_t)profile->time_ns);
  const uint64_t hi = sp_hash_mix(lo, select->source + SP_HASH_SEED);
  sp_profile_uuid uuid;

  memcpy(uuid.bytes, &hi, 8);
  memcpy(uuid.bytes + 8, &lo, 8);
  /* RFC 9562, 5.8: version 8, ours to fill. */
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

/* Whether the block has a series with values that is asked for. */
static spanprof_status select_block_series(sp_select *select, bool *any,
                                           bool *asks_spans) {
  void *array = select->first;
  sp_select_entry *entry;
  spanprof_status st =
      sp_mem_reserve(select->store->mem, &array, &select->first_room,
                     select->block.series_count + 1, sizeof *select->first);
  size_t i;

  select->first = array;
  *any = false;
  *asks_spans = false;
  for (i = 0; !st && i < select->block.series_count; i++) {
    entry = select_first(select, select->block.series[i].id);
    select->first[i] = entry;
    for (; entry && entry < select->entries + select->entry_count &&
           entry->series == select->block.series[i].id;
         entry++)
      if (select->block.series[i].types >> entry->type & 1) {
        *any = true;
        *asks_spans |= entry->asks_spans;
      }
  }
  return st;
}

/* Every entry of the block's series has a profile in the range. */
static void select_block_seen(sp_select *select) {
  sp_select_entry *entry;
  size_t i;

  for (i = 0; i < select->block.series_count; i++)
    for (entry = select->first[i];
         entry && entry < select->entries + select->entry_count &&
         entry->series == select->block.series[i].id;
         entry++)
      entry->seen |= select->block.series[i].types >> entry->type & 1;
}

static bool select_profile_passes(const sp_select *select, uint32_t profile) {
  const sp_selector *selector = select->selector;
  const sp_block_profile *of = &select->block.profiles[profile];
  sp_profile_uuid uuid;
  size_t i;

  if (!select_in_range(selector, of->time_ns))
    return false;
  if (selector->profile_count == 0)
    return true;
  uuid = sp_select_uuid(select, of);
  for (i = 0; i < selector->profile_count; i++)
    if (memcmp(&uuid, &selector->profiles[i], sizeof uuid) == 0)
      return true;
  return false;
}

static bool select_sample_passes(sp_select *select,
                                 const sp_select_entry *entry,
                                 const sp_block_sample *sample) {
  static const sp_block_span none = {0};
  const sp_selector *selector = select->selector;
  const sp_block_span *span =
      sample->span ? &select->block.spans[sample->span - 1] : &none;
  uint8_t *known = &select->passes[sample->span];

  if (!entry->asks_spans && !selector->span_count && !selector->trace_count)
    return true;
  if (entry->asks_spans) /* another series may have other labels */
    return sp_select_span_passes(select, entry, span);
  if (!*known)
    *known = sp_select_span_passes(select, entry, span) ? 1 : 2;
  return *known == 1;
}

/* The samples of one profile and series, from `at` on. Returns their end. */
static spanprof_status select_run(sp_select *select, size_t at, size_t end) {
  const sp_block *block = &select->block;
  const sp_block_sample *first = &block->samples[at];
  sp_select_entry *entry = select->first[first->series];
  spanprof_status st = SPANPROF_OK;
  bool any = false;
  size_t i;

  for (; !st && entry && entry < select->entries + select->entry_count &&
         entry->series == block->series[first->series].id;
       entry++)
    for (i = at; !st && i < end; i++) {
      const sp_block_sample *sample = &block->samples[i];

      if (block->values[sample->values + entry->type] == 0 ||
          !select_sample_passes(select, entry, sample))
        continue;
      entry->seen = true;
      any = true;
      if (select->sink->sample)
        st = select->sink->sample(select->sink->data, entry, block, sample);
    }
  if (!st && any && select->sink->run_end)
    st = select->sink->run_end(select->sink->data, block, first);
  return st;
}

static spanprof_status select_samples(sp_select *select, bool totals) {
  const sp_block *block = &select->block;
  void *array = select->passes;
  spanprof_status st =
      sp_mem_reserve(select->store->mem, &array, &select->passes_room,
                     block->span_count + 1, 1);
  uint32_t last = UINT32_MAX;
  size_t at, end;

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
    select->profile_count +=
        totals ? (last == UINT32_MAX ? block->profile_count : 0)
               : first->profile != last;
    last = first->profile;
    st = select_run(select, at, end);
  }
  return st;
}

#define SELECT_BLOB(row, column)        \
  sqlite3_column_blob((row), (column)), \
      (size_t)sqlite3_column_bytes((row), (column))

static spanprof_status select_row(sp_select *select, sqlite3_stmt *row) {
  const sp_selector *selector = select->selector;
  const bool whole =
      select_in_range(selector, sqlite3_column_int64(row, SELECT_FROM)) &&
      select_in_range(selector, sqlite3_column_int64(row, SELECT_UNTIL));
  const bool asks_ids = selector->span_count || selector->trace_count;
  bool ids = asks_ids || selector->profile_count;
  bool any, asks_spans;
  spanprof_status st;

  /* First, as it rules nearly all blocks of a long range out. */
  if (asks_ids &&
      !sp_select_filter_passes(selector, SELECT_BLOB(row, SELECT_FILTER)))
    return SPANPROF_OK;
  st = sp_block_read_head(&select->block, SELECT_BLOB(row, SELECT_HEAD));
  if (!st)
    st = select_block_series(select, &any, &asks_spans);
  if (st || !any)
    return st;
  if (asks_spans &&
      !sp_select_filter_passes(selector, SELECT_BLOB(row, SELECT_FILTER)))
    return SPANPROF_OK;
  ids |= asks_spans;
  if (whole && !ids && select->sink->presence) {
    select_block_seen(select);
    return SPANPROF_OK;
  }
  if (whole && !ids && select->sink->totals &&
      sqlite3_column_bytes(row, SELECT_TOTALS)) {
    st = sp_block_read_totals(&select->block, SELECT_BLOB(row, SELECT_TOTALS));
    return st ? st : select_samples(select, true);
  }
  st = sp_block_read_spans(&select->block, SELECT_BLOB(row, SELECT_SPANS));
  if (!st)
    st = sp_block_read_body(&select->block, SELECT_BLOB(row, SELECT_BODY));
  return st ? st : select_samples(select, false);
}

static int64_t select_ns(int64_t ms, int64_t more) {
  int64_t ns;

  if (__builtin_mul_overflow(ms, SELECT_NS_PER_MS, &ns) ||
      __builtin_add_overflow(ns, more, &ns))
    return ms < 0 ? INT64_MIN : INT64_MAX;
  return ns;
}

static spanprof_status select_source(sp_select *select, sqlite3_stmt *rows,
                                     uint32_t source) {
  const sp_selector *selector = select->selector;
  spanprof_status st = SPANPROF_OK;
  int code = SQLITE_DONE;

  select->source = source;
  sqlite3_bind_int64(rows, 1, source);
  sqlite3_bind_int64(rows, 2, select_ns(selector->from_ms, 0));
  sqlite3_bind_int64(rows, 3,
                     select_ns(selector->until_ms, SELECT_NS_PER_MS - 1));
  while (!st && !(st = sp_database_step(rows, &code)) && code == SQLITE_ROW) {
    if (selector->give_up && selector->give_up(selector->give_up_data))
      st = sp_fail(SPANPROF_ERR_TIMEOUT, "the query was given up");
    else
      st = select_row(select, rows);
  }
  sqlite3_reset(rows);
  return st;
}

spanprof_status sp_select_run(sp_select *select, sp_store *store, sqlite3 *db,
                              const sp_selector *selector,
                              const sp_select_sink *sink) {
  sqlite3_stmt *rows = NULL;
  const uint32_t *sources;
  size_t count = 0, i;
  spanprof_status st;

  memset(select, 0, sizeof *select);
  select->store = store;
  select->db = db;
  select->selector = selector;
  select->sink = sink;
  sp_block_init(&select->block, store->mem);
  sp_arena_init(&select->arena, store->mem, SELECT_BYTES_MAX);
  st = sp_select_load(select, &sources, &count);
  if (!st)
    st = sp_database_prepare(db, &rows,
                             "SELECT from_ns, until_ns, profiles, head, "
                             "filter, totals, spans, body FROM block WHERE "
                             "source=?1 AND until_ns>=?2 AND from_ns<=?3");
  for (i = 0; !st && i < count; i++)
    st = select_source(select, rows, sources[i]);
  sqlite3_finalize(rows);
  return st;
}

void sp_select_dispose(sp_select *select) {
  sqlite3_finalize(select->text);
  sp_block_dispose(&select->block);
  sp_arena_dispose(&select->arena);
  sp_mem_free(select->store->mem, select->entries);
  sp_mem_free(select->store->mem, select->texts);
  sp_mem_free(select->store->mem, select->first);
  sp_mem_free(select->store->mem, select->passes);
}
