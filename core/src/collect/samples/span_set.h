/* The spans that samples of the running window carry: held, so that they can
 * be named when the window is encoded, however many spans end and are swept
 * meanwhile. On the collector's thread alone. */
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

/* Hold a span, once. Without memory it is not held: its samples keep their
 * sums and may lose their name. */
void sp_span_set_add(sp_span_set *set, spanprof_span span);

/* Let all of them go. */
void sp_span_set_clear(sp_span_set *set);
void sp_span_set_dispose(sp_span_set *set);

#endif
