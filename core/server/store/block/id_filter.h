/* Bloom filters of span and trace ids. All bits of an id are in one line of 64
 * bytes (a cache line of the processor), so a lookup reads only one line of a
 * filter. */
#ifndef SP_ID_FILTER_H
#define SP_ID_FILTER_H

#include "util/base.h"

#define SP_ID_FILTER_LINE_BYTES 64

/* Returns the key of an id, from which its line and bits in a filter are
 * computed. */
uint64_t sp_id_span_key(uint64_t span_id);
uint64_t sp_id_trace_key(uint64_t hi, uint64_t lo);

/* Returns the size in bytes of a filter for this many ids, a multiple of the
 * line size. */
size_t sp_id_filter_bytes(size_t ids);

void sp_id_filter_add(void *filter, size_t size, uint64_t key);

/* Returns the offset of a key's line in a filter of `size` bytes. `size` must
 * not be 0. */
size_t sp_id_filter_line(uint64_t key, size_t size);

/* Returns whether the filter may contain the key. The first function gets only
 * the key's line, the second the whole filter. */
bool sp_id_filter_line_has(const void *line, uint64_t key);
bool sp_id_filter_has(const void *filter, size_t size, uint64_t key);

#endif
