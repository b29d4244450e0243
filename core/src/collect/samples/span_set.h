/* The spans of the present window's samples. The set retains them, so that they
 * have names when the window is encoded, even if they end and are freed
 * elsewhere. Used by the collector's thread. */
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

/* Add a span and retain it, once. Without memory, the span is not retained; its
 * samples keep their CPU time and may lose their span name. */
void sp_span_set_add(sp_span_set *set, spanprof_span span);

/* Release all spans. */
void sp_span_set_clear(sp_span_set *set);
void sp_span_set_dispose(sp_span_set *set);

#endif
