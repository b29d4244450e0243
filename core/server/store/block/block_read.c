#include <string.h>

#include "block.h"
#include "columns.h"
#include "util/system/status.h"

static spanprof_status block_damaged(void) {
  return sp_fail(SPANPROF_ERR_FORMAT, "a block of the store is damaged");
}

static spanprof_status block_read_profiles(sp_block *block,
                                           sp_column_reader *reader) {
  const size_t count = sp_get_count(reader);
  spanprof_status st = SPANPROF_OK;
  uint64_t before = 0;
  size_t i;

  block->profile_count = 0;
  for (i = 0; !st && !reader->broken && i < count; i++) {
    sp_block_profile profile;

    before += (uint64_t)sp_get_signed(reader);
    profile.time_ns = (int64_t)before;
    profile.duration_ns = sp_get_signed(reader);
    profile.hash = sp_get_fixed(reader);
    st = sp_block_add_profile(block, &profile);
  }
  return st;
}

spanprof_status sp_block_read_head(sp_block *block, const void *bytes,
                                   size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  spanprof_status st;
  uint32_t series = 0;
  size_t count, i;

  sp_block_clear(block);
  block->type_count = (size_t)sp_get_number(&reader);
  if (reader.broken || block->type_count > SP_BLOCK_TYPES_MAX)
    return block_damaged();
  st = block_read_profiles(block, &reader);
  count = sp_get_count(&reader);
  for (i = 0; !st && !reader.broken && i < count; i++) {
    series += (uint32_t)sp_get_number(&reader);
    st = sp_block_add_series(block, series);
    if (!st)
      block->series[i].types = sp_get_number(&reader);
  }
  return !st && reader.broken ? block_damaged() : st;
}

spanprof_status sp_block_read_spans(sp_block *block, const void *bytes,
                                    size_t size) {
  sp_column_reader reader = sp_column_reader_of(bytes, size);
  spanprof_status st = SPANPROF_OK;
  sp_block_span span = {0};
  size_t count, i;
  bool traces;

  block->span_count = 0;
  if (size == 0)
    return SPANPROF_OK;
  count = sp_get_count(&reader);
  traces = sp_get_number(&reader) != 0;
  for (i = 0; !st && !reader.broken && i < count; i++) {
    span.span_id += sp_get_number(&reader);
    if (traces) {
      span.trace_hi = sp_get_fixed(&reader);
      span.trace_lo = sp_get_fixed(&reader);
    }
    st = sp_block_add_span(block, &span);
  }
  return !st && reader.broken ? block_damaged() : st;
}

/* Allocate `count` samples, all zero, with their values. */
static spanprof_status block_new_samples(sp_block *block, size_t count) {
  void *samples = block->samples, *values = block->values;
  spanprof_status st =
      sp_mem_reserve(block->mem, &samples, &block->sample_capacity, count,
                     sizeof *block->samples);

  block->samples = samples;
  if (!st)
    st = sp_mem_reserve(block->mem, &values, &block->value_capacity,
                        count * block->type_count, sizeof *block->values);
  block->values = values;
  block->sample_count = st ? 0 : count;
  block->value_count = block->sample_count * block->type_count;
  if (count && !st)
    memset(block->samples, 0, count * sizeof *block->samples);
  return st;
}

static bool block_read_profile_numbers(sp_block *block,
                                       sp_column_reader *reader,
                                       size_t profiles) {
  size_t i, at = 0, count;

  for (i = 0; i < profiles; i++) {
    count = (size_t)sp_get_number(reader);
    if (reader->broken || count > block->sample_count - at)
      return false;
    for (; count; count--)
      block->samples[at++].profile = (uint32_t)i;
  }
  return at == block->sample_count;
}

static bool block_read_columns(sp_block *block, sp_column_reader *reader,
                               size_t profiles, bool spans,
                               const int64_t *units) {
  int64_t stack = 0, span = 0;
  size_t i, t;

  if (!block_read_profile_numbers(block, reader, profiles))
    return false;
  for (i = 0; i < block->sample_count; i++) {
    const uint64_t series = sp_get_number(reader);

    if (series >= block->series_count)
      return false;
    block->samples[i].series = (uint32_t)series;
    block->samples[i].values = (uint32_t)(i * block->type_count);
  }
  for (i = 0; i < block->sample_count; i++) {
    stack += sp_get_signed(reader);
    block->samples[i].stack = (uint64_t)stack;
  }
  for (i = 0; spans && i < block->sample_count; i++) {
    span += sp_get_signed(reader);
    if (span < 0 || (uint64_t)span > block->span_count)
      return false;
    block->samples[i].span = (uint32_t)span;
  }
  for (t = 0; t < block->type_count; t++)
    for (i = 0; i < block->sample_count; i++)
      block->values[i * block->type_count + t] =
          (int64_t)((uint64_t)sp_get_signed(reader) * (uint64_t)units[t]);
  return !reader->broken;
}

/* Read the presences (which profiles have which series), the last part of the
 * totals. */
static spanprof_status block_read_presences(sp_block *block,
                                            sp_column_reader *reader) {
  void *array = block->presences;
  sp_block_presence run = {0};
  spanprof_status st = SPANPROF_OK;

  while (!st && reader->at < reader->end) {
    run.profile += (uint32_t)sp_get_number(reader);
    run.series = (uint32_t)sp_get_number(reader);
    run.types = sp_get_number(reader);
    if (reader->broken || run.profile >= block->profile_count ||
        run.series >= block->series_count)
      return block_damaged();
    st = sp_mem_reserve(block->mem, &array, &block->presence_capacity,
                        block->presence_count + 1, sizeof run);
    block->presences = array;
    if (!st)
      block->presences[block->presence_count++] = run;
  }
  return st;
}

static spanprof_status block_read_samples(sp_block *block, const void *bytes,
                                          size_t size, size_t profiles,
                                          bool spans) {
  spanprof_status st = sp_columns_unpack(&block->unpacked, bytes, size);
  int64_t units[SP_BLOCK_TYPES_MAX];
  sp_column_reader reader;
  size_t count, t;

  if (st)
    return st;
  reader = sp_column_reader_of(block->unpacked.data, block->unpacked.size);
  count = sp_get_count(&reader);
  for (t = 0; t < block->type_count; t++)
    units[t] = sp_get_signed(&reader);
  st = block_new_samples(block, count);
  if (!st && (reader.broken ||
              !block_read_columns(block, &reader, profiles, spans, units))) {
    block->sample_count = 0;
    st = block_damaged();
  }
  block->presence_count = 0;
  return st ? st : block_read_presences(block, &reader);
}

spanprof_status sp_block_read_body(sp_block *block, const void *bytes,
                                   size_t size) {
  return block_read_samples(block, bytes, size, block->profile_count,
                            block->span_count > 0);
}

spanprof_status sp_block_read_totals(sp_block *block, const void *bytes,
                                     size_t size) {
  return block_read_samples(block, bytes, size, 1, false);
}
