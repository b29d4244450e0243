#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "columns.h"
#include "id_filter.h"
#include "stored_hash.h"

/* zlib's compression levels. A block of one profile is compacted within
 * minutes, so it is compressed at the fastest level. */
#define BLOCK_LEVEL_ONE  1
#define BLOCK_LEVEL_MANY 6

/* Skips ids that are zero. */
void sp_block_filter_spans(const sp_block *block, void *filter, size_t size) {
  size_t i;

  for (i = 0; i < block->span_count; i++) {
    const sp_block_span *span = &block->spans[i];

    if (span->span_id)
      sp_id_filter_add(filter, size, sp_id_span_key(span->span_id));
    if (span->trace_hi || span->trace_lo)
      sp_id_filter_add(filter, size,
                       sp_id_trace_key(span->trace_hi, span->trace_lo));
  }
}

static void block_write_filter(const sp_block *block, sp_buffer *out) {
  size_t traces = 0, size, i;

  if (block->span_count == 0)
    return;
  for (i = 0; i < block->span_count; i++)
    traces += block->spans[i].trace_hi || block->spans[i].trace_lo;
  size = sp_id_filter_bytes(block->span_count + traces);
  out->size = 0;
  if (!sp_buffer_reserve(out, size))
    return;
  out->size = size;
  memset(out->data, 0, size);
  sp_block_filter_spans(block, out->data, size);
}

/* Write the sorted span ids as differences, which are shorter. Trace ids are
 * random, so they are written in full. */
static void block_write_spans(const sp_block *block, sp_buffer *out) {
  uint64_t before = 0;
  bool traces = false;
  size_t i;

  if (block->span_count == 0)
    return;
  for (i = 0; i < block->span_count; i++)
    traces |= block->spans[i].trace_hi || block->spans[i].trace_lo;
  sp_put_number(out, block->span_count);
  sp_put_number(out, traces);
  for (i = 0; i < block->span_count; i++) {
    const sp_block_span *span = &block->spans[i];

    sp_put_number(out, span->span_id - before);
    before = span->span_id;
    if (traces) {
      sp_put_fixed(out, span->trace_hi);
      sp_put_fixed(out, span->trace_lo);
    }
  }
}

/* Write a common divisor of the values of each type, usually the sampling
 * interval. Values are written as multiples of it. */
static void block_write_units(const sp_block *block, sp_buffer *out,
                              int64_t units[SP_BLOCK_TYPES_MAX]) {
  size_t t, i;

  for (t = 0; t < block->type_count; t++) {
    int64_t unit = 0;

    for (i = 0; i < block->sample_count && unit != 1; i++) {
      int64_t value = block->values[block->samples[i].values + t];

      value = value == INT64_MIN ? 1 : llabs(value);
      while (value) {
        const int64_t remainder = unit % value;

        unit = value;
        value = remainder;
      }
    }
    units[t] = unit ? unit : 1;
    sp_put_signed(out, units[t]);
  }
}

/* Write the samples, column by column. */
static void block_write_samples(const sp_block *block, sp_buffer *out) {
  int64_t units[SP_BLOCK_TYPES_MAX];
  size_t i, t, at = 0, begin;
  uint64_t stack = 0;
  uint32_t span = 0;

  sp_put_number(out, block->sample_count);
  block_write_units(block, out, units);
  for (i = 0; i < block->profile_count; i++) {
    for (begin = at;
         at < block->sample_count && block->samples[at].profile == i; at++)
      ;
    sp_put_number(out, at - begin);
  }
  for (i = 0; i < block->sample_count; i++)
    sp_put_number(out, block->samples[i].series);
  for (i = 0; i < block->sample_count; i++) {
    sp_put_signed(out, (int64_t)(block->samples[i].stack - stack));
    stack = block->samples[i].stack;
  }
  for (i = 0; block->span_count && i < block->sample_count; i++) {
    sp_put_signed(out, (int64_t)block->samples[i].span - span);
    span = block->samples[i].span;
  }
  for (t = 0; t < block->type_count; t++)
    for (i = 0; i < block->sample_count; i++)
      sp_put_signed(out,
                    block->values[block->samples[i].values + t] / units[t]);
}

/* The samples from `at` on that have the same profile and series are a run. Get
 * the types that have values in the run. Returns the index after the run. */
static size_t block_run(const sp_block *block, size_t at, uint64_t *types) {
  const sp_block_sample *first = &block->samples[at];
  size_t t;

  for (*types = 0; at < block->sample_count &&
                   block->samples[at].profile == first->profile &&
                   block->samples[at].series == first->series;
       at++)
    for (t = 0; t < block->type_count; t++)
      *types |= (uint64_t)(block->values[block->samples[at].values + t] != 0)
                << t;
  return at;
}

/* Write the presences (which profiles have which series), from which a query
 * counts its profiles. */
static void block_write_presences(const sp_block *block, sp_buffer *out) {
  uint32_t profile = 0;
  uint64_t types;
  size_t at, end;

  for (at = 0; at < block->sample_count; at = end) {
    const sp_block_sample *first = &block->samples[at];

    end = block_run(block, at, &types);
    sp_put_number(out, first->profile - profile);
    profile = first->profile;
    sp_put_number(out, first->series);
    sp_put_number(out, types);
  }
}

/* Write the samples of `block`, and then the presences of `runs_of`, which may
 * be NULL. */
static spanprof_status block_write_packed(const sp_block *block,
                                          const sp_block *runs_of,
                                          sp_buffer *out, int level,
                                          uint64_t *hash) {
  sp_buffer columns;
  spanprof_status st;

  sp_buffer_init(&columns, block->mem);
  block_write_samples(block, &columns);
  if (runs_of)
    block_write_presences(runs_of, &columns);
  st = sp_buffer_status(&columns);
  if (!st && hash)
    *hash = sp_siphash(columns.data, columns.size, 0, 0);
  if (!st)
    st = sp_columns_pack(out, &columns, level);
  sp_buffer_dispose(&columns);
  return st;
}

/* Write the totals: the sum of all profiles, as one profile without spans. */
static spanprof_status block_write_totals(const sp_block *block,
                                          sp_buffer *out) {
  sp_block totals;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  sp_block_init(&totals, block->mem);
  totals.type_count = block->type_count;
  for (i = 0; !st && i < block->series_count; i++)
    st = sp_block_add_series(&totals, block->series[i].id);
  if (!st)
    st = sp_block_add_profile(&totals, &block->profiles[0]);
  for (i = 0; !st && i < block->sample_count; i++) {
    sp_block_sample sample = block->samples[i];

    sample.profile = 0;
    sample.span = 0;
    st = sp_block_add_sample(&totals, &sample,
                             &block->values[block->samples[i].values]);
  }
  if (!st)
    st = sp_block_sort(&totals);
  if (!st)
    st = block_write_packed(&totals, block, out, BLOCK_LEVEL_MANY, NULL);
  sp_block_dispose(&totals);
  return st;
}

static void block_write_head(const sp_block *block, sp_buffer *out) {
  int64_t before = 0;
  uint32_t series = 0;
  size_t i;

  sp_put_number(out, block->type_count);
  sp_put_number(out, block->profile_count);
  for (i = 0; i < block->profile_count; i++) {
    sp_put_signed(out, (int64_t)((uint64_t)block->profiles[i].time_ns -
                                 (uint64_t)before));
    before = block->profiles[i].time_ns;
    sp_put_signed(out, block->profiles[i].duration_ns);
    sp_put_fixed(out, block->profiles[i].hash);
  }
  sp_put_number(out, block->series_count);
  for (i = 0; i < block->series_count; i++) {
    sp_put_number(out, block->series[i].id - series);
    sp_put_number(out, block->series[i].types);
    series = block->series[i].id;
  }
}

spanprof_status sp_block_write(sp_block *block, sp_block_parts *out) {
  const bool many = block->profile_count > 1;
  uint64_t hash = 0;
  spanprof_status st;
  size_t i;

  st = block_write_packed(block, NULL, &out->body,
                          many ? BLOCK_LEVEL_MANY : BLOCK_LEVEL_ONE, &hash);
  if (!st && many)
    st = block_write_totals(block, &out->totals);
  if (st)
    return st;
  block_write_spans(block, &out->spans);
  if (!many && block->profile_count && block->profiles[0].hash == 0) {
    /* Include the ids of spans and series, because the body has only their
     * indexes in the block. */
    for (i = 0; i < block->series_count; i++)
      hash = sp_stored_mix(hash, block->series[i].id);
    if (out->spans.size)
      hash = sp_stored_mix(hash,
                           sp_siphash(out->spans.data, out->spans.size, 0, 0));
    if (block->upload_id)
      hash = sp_stored_mix(hash, block->upload_id);
    block->profiles[0].hash = hash | 1;
  }
  block_write_head(block, &out->head);
  block_write_filter(block, &out->filter);
  if (sp_buffer_status(&out->head) || sp_buffer_status(&out->filter) ||
      sp_buffer_status(&out->spans))
    return SPANPROF_ERR_NOMEM;
  return SPANPROF_OK;
}
