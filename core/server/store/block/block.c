#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "columns.h"

void sp_block_init(sp_block *block, const sp_mem *mem) {
  memset(block, 0, sizeof *block);
  block->mem = mem;
  sp_buffer_init(&block->unpacked, mem);
}

void sp_block_dispose(sp_block *block) {
  sp_mem_free(block->mem, block->profiles);
  sp_mem_free(block->mem, block->series);
  sp_mem_free(block->mem, block->spans);
  sp_mem_free(block->mem, block->samples);
  sp_mem_free(block->mem, block->values);
  sp_mem_free(block->mem, block->presences);
  sp_buffer_dispose(&block->unpacked);
  sp_block_init(block, block->mem);
}

void sp_block_clear(sp_block *block) {
  block->profile_count = 0;
  block->series_count = 0;
  block->span_count = 0;
  block->sample_count = 0;
  block->value_count = 0;
}

static spanprof_status block_reserve(const sp_block *block, void *array_of,
                                     size_t *capacity, size_t needed,
                                     size_t item) {
  void *array;
  spanprof_status st;

  memcpy(&array, array_of, sizeof array);
  st = sp_mem_reserve(block->mem, &array, capacity, needed, item);
  if (!st)
    memcpy(array_of, &array, sizeof array);
  return st;
}

spanprof_status sp_block_add_profile(sp_block *block,
                                     const sp_block_profile *profile) {
  spanprof_status st =
      block_reserve(block, &block->profiles, &block->profile_capacity,
                    block->profile_count + 1, sizeof *block->profiles);

  if (!st)
    block->profiles[block->profile_count++] = *profile;
  return st;
}

spanprof_status sp_block_add_series(sp_block *block, uint32_t id) {
  spanprof_status st =
      block_reserve(block, &block->series, &block->series_capacity,
                    block->series_count + 1, sizeof *block->series);

  if (!st)
    block->series[block->series_count++] = (sp_block_series){.id = id};
  return st;
}

spanprof_status sp_block_add_span(sp_block *block, const sp_block_span *span) {
  spanprof_status st =
      block_reserve(block, &block->spans, &block->span_capacity,
                    block->span_count + 1, sizeof *block->spans);

  if (!st)
    block->spans[block->span_count++] = *span;
  return st;
}

spanprof_status sp_block_add_sample(sp_block *block,
                                    const sp_block_sample *sample,
                                    const int64_t *values) {
  spanprof_status st =
      block_reserve(block, &block->samples, &block->sample_capacity,
                    block->sample_count + 1, sizeof *block->samples);

  if (!st)
    st = block_reserve(block, &block->values, &block->value_capacity,
                       block->value_count + block->type_count,
                       sizeof *block->values);
  if (st)
    return st;
  block->samples[block->sample_count] = *sample;
  block->samples[block->sample_count++].values = (uint32_t)block->value_count;
  memcpy(&block->values[block->value_count], values,
         block->type_count * sizeof *values);
  block->value_count += block->type_count;
  return SPANPROF_OK;
}

/* ---- Order ---- */

#define BLOCK_ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

/* An item's sort key, and its index before sorting. */
typedef struct block_placed {
  uint64_t key[3];
  uint32_t was;
} block_placed;

static int block_placed_order(const void *a_of, const void *b_of) {
  const block_placed *a = a_of, *b = b_of;
  int i, order = 0;

  for (i = 0; i < 3 && !order; i++)
    order = BLOCK_ORDER(a->key[i], b->key[i]);
  return order ? order : BLOCK_ORDER(a->was, b->was);
}

static int block_sample_order(const void *a_of, const void *b_of) {
  const sp_block_sample *a = a_of, *b = b_of;

  if (a->profile != b->profile)
    return BLOCK_ORDER(a->profile, b->profile);
  if (a->series != b->series)
    return BLOCK_ORDER(a->series, b->series);
  if (a->stack != b->stack)
    return BLOCK_ORDER(a->stack, b->stack);
  if (a->span != b->span)
    return BLOCK_ORDER(a->span, b->span);
  return BLOCK_ORDER(a->values, b->values);
}

/* Sort the items, and set moved[old index] to the new index of each item. If
 * `merge` is set, items with equal keys become one item. Returns the new count.
 */
static size_t block_places(block_placed *placed, size_t count, bool merge,
                           uint32_t *moved) {
  size_t kept = 0, i;

  qsort(placed, count, sizeof *placed, block_placed_order);
  for (i = 0; i < count; i++) {
    if (!merge || kept == 0 ||
        memcmp(placed[kept - 1].key, placed[i].key, sizeof placed->key) != 0)
      placed[kept++] = placed[i];
    moved[placed[i].was] = (uint32_t)kept - 1;
  }
  return kept;
}

static void block_key_profile(block_placed *placed, const sp_block *block,
                              size_t i) {
  placed->key[0] = (uint64_t)block->profiles[i].time_ns;
  placed->key[1] = block->profiles[i].hash;
  placed->key[2] = 0;
}

static void block_key_series(block_placed *placed, const sp_block *block,
                             size_t i) {
  placed->key[0] = block->series[i].id;
  placed->key[1] = placed->key[2] = 0;
}

static void block_key_span(block_placed *placed, const sp_block *block,
                           size_t i) {
  placed->key[0] = block->spans[i].span_id;
  placed->key[1] = block->spans[i].trace_hi;
  placed->key[2] = block->spans[i].trace_lo;
}

/* Sort one of the block's arrays, which has `count` items of `item` bytes.
 * moved[old index] is set to the new index. */
static spanprof_status block_sort_items(
    sp_block *block, void *array, size_t item, size_t *count, bool merge,
    void (*key)(block_placed *, const sp_block *, size_t), uint32_t *moved) {
  block_placed *placed = sp_mem_new(block->mem, (*count + 1) * sizeof *placed);
  char *copy = sp_mem_new(block->mem, (*count + 1) * item), *to = array;
  size_t i, kept;

  if (placed && copy) {
    memcpy(copy, array ? array : copy, *count * item);
    for (i = 0; i < *count; i++) {
      key(&placed[i], block, i);
      placed[i].was = (uint32_t)i;
    }
    kept = block_places(placed, *count, merge, moved);
    for (i = 0; i < kept; i++)
      memcpy(to + i * item, copy + placed[i].was * item, item);
    *count = kept;
  }
  sp_mem_free(block->mem, placed);
  sp_mem_free(block->mem, copy);
  return placed && copy ? SPANPROF_OK : SPANPROF_ERR_NOMEM;
}

/* Add values. A sum that would overflow becomes INT64_MAX. */
static void block_add_values(const sp_block *block, int64_t *to,
                             const int64_t *from) {
  size_t i;

  for (i = 0; i < block->type_count; i++)
    if (__builtin_add_overflow(to[i], from[i], &to[i]))
      to[i] = INT64_MAX;
}

/* Set the types for which each series has values, and merge equal samples. */
static void block_merge_samples(sp_block *block) {
  size_t kept = 0, i, t;

  for (i = 0; i < block->series_count; i++)
    block->series[i].types = 0;
  for (i = 0; i < block->sample_count; i++) {
    const sp_block_sample *sample = &block->samples[i];
    const int64_t *values = &block->values[sample->values];
    sp_block_sample *last = kept ? &block->samples[kept - 1] : NULL;

    for (t = 0; t < block->type_count; t++)
      block->series[sample->series].types |= (uint64_t)(values[t] != 0) << t;
    if (last && last->profile == sample->profile &&
        last->series == sample->series && last->stack == sample->stack &&
        last->span == sample->span)
      block_add_values(block, &block->values[last->values], values);
    else
      block->samples[kept++] = *sample;
  }
  block->sample_count = kept;
}

spanprof_status sp_block_sort(sp_block *block) {
  const size_t most =
      block->profile_count + block->series_count + block->span_count + 1;
  uint32_t *profiles = sp_mem_new(block->mem, most * sizeof *profiles);
  uint32_t *series, *spans;
  spanprof_status st;
  size_t i;

  if (!profiles)
    return SPANPROF_ERR_NOMEM;
  series = profiles + block->profile_count;
  spans = series + block->series_count;
  st = block_sort_items(block, block->profiles, sizeof *block->profiles,
                        &block->profile_count, false, block_key_profile,
                        profiles);
  if (!st)
    st = block_sort_items(block, block->series, sizeof *block->series,
                          &block->series_count, true, block_key_series, series);
  if (!st)
    st = block_sort_items(block, block->spans, sizeof *block->spans,
                          &block->span_count, true, block_key_span, spans);
  for (i = 0; !st && i < block->sample_count; i++) {
    sp_block_sample *sample = &block->samples[i];

    sample->profile = profiles[sample->profile];
    sample->series = series[sample->series];
    if (sample->span)
      sample->span = spans[sample->span - 1] + 1;
  }
  sp_mem_free(block->mem, profiles);
  if (st)
    return st;
  if (block->sample_count)
    qsort(block->samples, block->sample_count, sizeof *block->samples,
          block_sample_order);
  block_merge_samples(block);
  return SPANPROF_OK;
}

void sp_block_parts_init(sp_block_parts *parts, const sp_mem *mem) {
  sp_buffer_init(&parts->head, mem);
  sp_buffer_init(&parts->filter, mem);
  sp_buffer_init(&parts->totals, mem);
  sp_buffer_init(&parts->spans, mem);
  sp_buffer_init(&parts->body, mem);
}

void sp_block_parts_dispose(sp_block_parts *parts) {
  sp_buffer_dispose(&parts->head);
  sp_buffer_dispose(&parts->filter);
  sp_buffer_dispose(&parts->totals);
  sp_buffer_dispose(&parts->spans);
  sp_buffer_dispose(&parts->body);
}
