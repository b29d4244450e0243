#include "span_record.h"

_Static_assert(sizeof(sp_span) <= 128, "what a span may cost");

/* Process-wide: a span's number is valid on every thread, for the life of the
 * process. */
_Atomic(sp_span *) sp_span_chunks[SP_SPAN_CHUNKS];

sp_span *sp_span_at(uint32_t place) {
  return atomic_load_explicit(&sp_span_chunks[place / SP_SPAN_CHUNK],
                              memory_order_acquire) +
         place % SP_SPAN_CHUNK;
}
