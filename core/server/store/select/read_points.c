#include <string.h>

#include "sample_sums.h"
#include "server/model/sum.h"
#include "util/system/status.h"

/* The sum of one profile's values, for one entry (a series and a type) and, if
 * spans are requested, one span. */
typedef struct points_sum {
  sp_select_entry *entry;
  int64_t value;
  int64_t parts; /* sum of sp_sample_part(), from which sp_sample_count() gets
                  * the count */
  uint32_t span; /* sp_block_sample.span, or 0 if spans are not requested */
} points_sum;

typedef struct points_read {
  const sp_mem *mem;
  const sp_select *select;
  sp_store_points_of of;
  sp_store_point_fn fn;
  void *data;
  points_sum *sums;
  size_t count;
  size_t capacity;
  sp_index index;
  bool ended;
} points_read;

static points_sum *points_find(points_read *read, sp_select_entry *entry,
                               uint32_t span) {
  const uint64_t hash =
      sp_hash_mix(sp_hash_mix(SP_HASH_SEED, span), entry->type);
  void *array = read->sums;
  uint32_t at, i;

  for (i = sp_index_first(&read->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&read->index, hash, &at))
    if (read->sums[i].entry == entry && read->sums[i].span == span)
      return &read->sums[i];
  if (sp_mem_reserve(read->mem, &array, &read->capacity, read->count + 1,
                     sizeof *read->sums))
    return NULL;
  read->sums = array;
  if (sp_index_reserve(&read->index, read->mem))
    return NULL;
  sp_index_add(&read->index, hash, (uint32_t)read->count);
  read->sums[read->count] = (points_sum){.entry = entry, .span = span};
  return &read->sums[read->count++];
}

static spanprof_status points_sample(void *data, sp_select_entry *entry,
                                     const sp_block *block,
                                     const sp_block_sample *sample) {
  points_read *read = data;
  const bool spans = read->of == SP_STORE_POINT_PER_SPAN;
  points_sum *sum = points_find(read, entry, spans ? sample->span : 0);

  if (!sum)
    return SPANPROF_ERR_NOMEM;
  sp_increase(&sum->value, block->values[sample->values + entry->type]);
  sp_increase(&sum->parts,
              sp_sample_part(entry, &block->values[sample->values]));
  return SPANPROF_OK;
}

/* Pass the sums of a profile and series to the callback. Returns
 * SPANPROF_ERR_STATE if the callback stops the query. */
static spanprof_status points_run_end(void *data, const sp_block *block,
                                      const sp_block_sample *first) {
  const sp_block_profile *profile = &block->profiles[first->profile];
  points_read *read = data;
  sp_store_point point = {.time_ns = profile->time_ns,
                          .duration_ns = profile->duration_ns,
                          .profile = sp_select_uuid(read->select, profile)};
  size_t i;

  for (i = 0; i < read->count && !read->ended; i++) {
    const points_sum *sum = &read->sums[i];
    const sp_block_span *span = sum->span ? &block->spans[sum->span - 1] : NULL;

    point.labels = &sum->entry->labels;
    point.value = sum->value;
    point.sample_count = (uint64_t)sp_sample_count(sum->entry, sum->parts);
    point.span_id = span ? span->span_id : 0;
    point.trace_id.hi = span ? span->trace_hi : 0;
    point.trace_id.lo = span ? span->trace_lo : 0;
    read->ended = !read->fn(read->data, &point);
  }
  read->count = 0;
  sp_index_clear(&read->index);
  return read->ended ? SPANPROF_ERR_STATE : SPANPROF_OK;
}

spanprof_status sp_store_points(sp_store *store, const sp_selector *selector,
                                sp_store_points_of of, sp_store_point_fn fn,
                                void *data) {
  points_read read = {
      .mem = sp_select_mem(store, selector), .of = of, .fn = fn, .data = data};
  const sp_select_sink sink = {
      .data = &read, .sample = points_sample, .run_end = points_run_end};
  sp_store_reader *reader;
  sp_select select;
  spanprof_status st =
      sp_store_reader_acquire_for(store, selector->cancel, &reader);

  if (st)
    return st;
  read.select = &select;
  st = sp_select_run(&select, store, reader->db, selector, &sink);
  sp_select_dispose(&select);
  sp_store_reader_release(store, reader);
  sp_mem_free(read.mem, read.sums);
  sp_index_dispose(&read.index, read.mem);
  return read.ended ? SPANPROF_OK : st;
}

spanprof_status sp_store_series(sp_store *store, const sp_selector *selector,
                                sp_store_names names, sp_store_series_fn fn,
                                void *data) {
  const sp_select_sink sink = {.presence = true, .names = names};
  sp_store_reader *reader;
  sp_select select;
  spanprof_status st =
      sp_store_reader_acquire_for(store, selector->cancel, &reader);
  size_t i;

  if (st)
    return st;
  st = sp_select_run(&select, store, reader->db, selector, &sink);
  for (i = 0; !st && i < select.entry_count; i++)
    if (select.entries[i].seen && !fn(data, &select.entries[i].labels))
      break;
  sp_select_dispose(&select);
  sp_store_reader_release(store, reader);
  return st;
}
