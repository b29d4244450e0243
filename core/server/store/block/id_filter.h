/* Bloom filters of span and trace ids. All bits of an id are in one line of a
 * processor's cache, so that a filter can be read a line at a time. */
#ifndef SP_ID_FILTER_H
#define SP_ID_FILTER_H

#include "util/base.h"

#define SP_ID_FILTER_LINE_BYTES 64

/* What a filter knows an id by. */
uint64_t sp_id_span_key(uint64_t span_id);
uint64_t sp_id_trace_key(uint64_t hi, uint64_t lo);

/* The size of one for so many ids, a multiple of a line. */
size_t sp_id_filter_bytes(size_t ids);

void sp_id_filter_add(void *filter, size_t size, uint64_t key);

/* Where the line of a key begins in a filter of `size` bytes, one at least. */
size_t sp_id_filter_line(uint64_t key, size_t size);

/* Whether an id is let pass: by its line, or by the whole filter. */
bool sp_id_filter_line_has(const void *line, uint64_t key);
bool sp_id_filter_has(const void *filter, size_t size, uint64_t key);

#endif
