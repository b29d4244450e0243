/* The set of the spans that a sink's samples have. The set retains the spans,
 * so that their names are known when the profile is encoded, even if the spans
 * end before. All functions are called on the collector thread. */
#ifndef SP_SPAN_SET_H
#define SP_SPAN_SET_H

#include "util/memory/hash_index.h"

typedef struct sp_span_set {
  const sp_mem *mem;
  spanprof_span *spans;
  size_t capacity;
  size_t count;
  sp_index index;
} sp_span_set;

void sp_span_set_init(sp_span_set *set, const sp_mem *mem);

/* Add a span and retain it, unless the set contains it. If there is no memory,
 * the span is not retained; its samples keep their CPU time, but may lose the
 * span's name. */
void sp_span_set_add(sp_span_set *set, spanprof_span span);

/* Release all spans. */
void sp_span_set_clear(sp_span_set *set);
void sp_span_set_dispose(sp_span_set *set);

#endif
