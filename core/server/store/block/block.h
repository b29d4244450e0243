/* A block: profiles of one source (the labels of an upload and its value types)
 * in columns. It has one profile as it was received, or the profiles of an
 * hour. Each part of a block is a column of its row, and a query reads only the
 * parts that it needs:
 *
 * - head: the times, and the series and types that have values
 * - filter: a Bloom filter of the span and trace ids (id_filter.h)
 * - totals: the sum of each series and stack over all profiles, and the series
 *   of each profile; missing if there is only one profile
 * - spans: the span ids with their trace ids, sorted
 * - body: the samples, sorted by profile, series, stack and span */
#ifndef SP_BLOCK_H
#define SP_BLOCK_H

#include "util/memory/buffer.h"

#define SP_BLOCK_TYPES_MAX 64

typedef struct sp_block_profile {
  int64_t time_ns;
  int64_t duration_ns;
  uint64_t hash; /* hash of the profile's content */
} sp_block_profile;

/* A series of the block: its id in the store, and the types for which it has
 * values. */
typedef struct sp_block_series {
  uint32_t id;
  uint64_t types; /* bit i: it has values of type i */
} sp_block_series;

typedef struct sp_block_span {
  uint64_t span_id; /* 0: samples without a span */
  uint64_t trace_hi;
  uint64_t trace_lo;
} sp_block_span;

typedef struct sp_block_sample {
  uint64_t stack;   /* id of the stack in the store; 0: without frames */
  uint32_t profile; /* index */
  uint32_t series;  /* index */
  uint32_t span;    /* index of the span plus 1; 0: none */
  uint32_t values;  /* index in sp_block.values of the first of type_count
                     * values */
} sp_block_sample;

/* A series of one profile of the block, and the types for which the profile has
 * values of this series. */
typedef struct sp_block_presence {
  uint32_t profile; /* index */
  uint32_t series;  /* index */
  uint64_t types;   /* bit i: it has values of type i */
} sp_block_presence;

/* A block as sp_block_read_*() filled it, or a block to be written. */
typedef struct sp_block {
  const sp_mem *mem;
  sp_block_profile *profiles;
  sp_block_series *series;
  sp_block_span *spans;
  sp_block_sample *samples;
  int64_t *values;
  sp_block_presence *presences; /* read with the totals; blocks of older
                                 * versions have none */
  size_t presence_count, presence_capacity;
  size_t profile_count, series_count, span_count, sample_count, value_count;
  size_t profile_capacity, series_capacity, span_capacity, sample_capacity,
      value_capacity;
  size_t type_count;
  uint64_t upload_id; /* id of the upload, included in the hash of a single
                       * profile; 0: none */
  sp_buffer unpacked;
} sp_block;

void sp_block_init(sp_block *block, const sp_mem *mem);
void sp_block_dispose(sp_block *block);
void sp_block_clear(sp_block *block); /* empties the block, but keeps its
                                       * memory */

/* Append an item. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_block_add_profile(sp_block *block,
                                     const sp_block_profile *profile);
spanprof_status sp_block_add_sample(sp_block *block,
                                    const sp_block_sample *sample,
                                    const int64_t *values);
/* Append a series or span, even if the block has it already. Returns
 * SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_block_add_series(sp_block *block, uint32_t id);
spanprof_status sp_block_add_span(sp_block *block, const sp_block_span *span);

/* Sort the block: profiles by time, series and spans by id, then the samples.
 * Equal series and spans are merged, and equal samples are added up. Returns
 * SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_block_sort(sp_block *block);

typedef struct sp_block_parts {
  sp_buffer head;
  sp_buffer filter; /* empty if there are no spans */
  sp_buffer totals; /* empty if there is only one profile */
  sp_buffer spans;
  sp_buffer body;
} sp_block_parts;

void sp_block_parts_init(sp_block_parts *parts, const sp_mem *mem);
void sp_block_parts_dispose(sp_block_parts *parts);

/* Encode a sorted block. If it has a single profile with the hash 0, the hash
 * is computed and set. Returns SPANPROF_ERR_NOMEM on failure. */
spanprof_status sp_block_write(sp_block *block, sp_block_parts *out);

/* Each function decodes one part and replaces it in the block. Before the body,
 * the head and the spans (if there are any) must have been read. Returns
 * SPANPROF_ERR_FORMAT if the bytes are damaged, or SPANPROF_ERR_NOMEM. */
spanprof_status sp_block_read_head(sp_block *block, const void *bytes,
                                   size_t size);
spanprof_status sp_block_read_spans(sp_block *block, const void *bytes,
                                    size_t size);
spanprof_status sp_block_read_body(sp_block *block, const void *bytes,
                                   size_t size);

/* Read the totals into `samples`, as samples of profile 0 without spans. The
 * head must have been read. The statuses are those of sp_block_read_head(). */
spanprof_status sp_block_read_totals(sp_block *block, const void *bytes,
                                     size_t size);

/* Add the span and trace ids of the block to a filter of `size` bytes. */
void sp_block_filter_spans(const sp_block *block, void *filter, size_t size);

#endif
