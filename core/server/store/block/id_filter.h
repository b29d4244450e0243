/* Bloom filters of span and trace ids. All bits of an id are in one cache line
 * of the processor, so that a filter can be read one line at a time. */
#ifndef SP_ID_FILTER_H
#define SP_ID_FILTER_H

#include "util/base.h"

#define SP_ID_FILTER_LINE_BYTES 64

/* Returns the key of an id in filters. */
uint64_t sp_id_span_key(uint64_t span_id);
uint64_t sp_id_trace_key(uint64_t hi, uint64_t lo);

/* Size in bytes of a filter for this many ids, a multiple of a line. */
size_t sp_id_filter_bytes(size_t ids);

void sp_id_filter_add(void *filter, size_t size, uint64_t key);

/* Offset of a key's line in a filter of `size` bytes, which must have a line.
 */
size_t sp_id_filter_line(uint64_t key, size_t size);

/* Returns whether the filter may contain the key, by its line or by the whole
 * filter. */
bool sp_id_filter_line_has(const void *line, uint64_t key);
bool sp_id_filter_has(const void *filter, size_t size, uint64_t key);

#endif
