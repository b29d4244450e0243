/* The memory of spans, and the lookup of a span by its number: the code that
 * the signal handler needs. The folder `span` has all other code of spans.
 *
 * A place is the memory of one span. Places are numbered from 0 and reused. The
 * number of a span consists of its place and of the place's generation, which
 * counts the uses of the place. So the number of a freed span finds no span.
 *
 * Protocol: the thread that starts a span fills its fields, and then makes the
 * span visible by storing `state` (release). Any thread may read the fields
 * that are constant after that; the reader then checks that the generation is
 * unchanged. The lock of the span's place guards the name (span_name.h), the
 * lock of the span's shard guards `table_next` (span_table.h), and the lock of
 * the sweep, which frees ended spans, guards `marked`. */
#ifndef SP_SPAN_RECORD_H
#define SP_SPAN_RECORD_H

#include "util/base.h"

/* Bits of the lower half of `state`. The upper half is the generation. */
#define SP_SPAN_LIVE   1u /* started and not freed */
#define SP_SPAN_ENDED  2u
#define SP_SPAN_TRACED 4u /* its trace is sampled */
#define SP_SPAN_ROOT   8u /* a local root */
/* The following bits are the span rules at the start of the span. */
#define SP_SPAN_ADD_NAME     16u
#define SP_SPAN_ADD_TRACE_ID 32u
#define SP_SPAN_LEGACY_LABEL 64u
#define SP_SPAN_ID_LABEL     128u

#define SP_SPAN_CHUNK  256u
#define SP_SPAN_CHUNKS 16384u
#define SP_SPANS_MAX   (SP_SPAN_CHUNK * SP_SPAN_CHUNKS)

#define SP_SPAN_NAME_INLINE 48

/* Value of `refs` if the span is being freed, is free, or is not filled yet. */
#define SP_SPAN_REFS_DEAD (1u << 31)

/* Maximum number of ancestors that a span keeps alive through `parent`. A span
 * that would have more has no `parent` and starts a new chain. Reason: a span
 * that never ends keeps all ancestors of its chain alive, and their number
 * would be unlimited in a trace in which each span is the parent of the next
 * one. Samples name at most SP_SPAN_ANCESTORS_MAX ancestors, so the limit
 * affects only the first spans of a new chain. */
#define SP_SPAN_CHAIN_MAX 64

typedef struct sp_span {
  _Atomic uint64_t state;
  /* Fixed while the span is live; readers check sp_span_same(). Ids are stored
   * in network byte order. */
  _Atomic spanprof_span carried;
  _Atomic spanprof_span root;   /* 0: unknown */
  _Atomic spanprof_span parent; /* nearest sampled local ancestor; 0: none */
  _Atomic uint64_t span_id;
  _Atomic uint64_t trace_id[2];
  /* Number of references to this span: by other spans as `carried`, `root` or
   * `parent`, and by spanprof_span_retain(). SP_SPAN_REFS_DEAD: no reference
   * may be added. */
  _Atomic uint32_t refs;
  /* Place + 1 of the next span in the same list of free or ended spans; 0:
   * none. */
  _Atomic uint32_t next;
  /* Guarded by the lock of the shard. The next span in the same bucket. */
  uint32_t table_next; /* place + 1 */
  /* Guarded by the lock of the sweep. */
  uint32_t marked; /* last sweep that found the span active */
  /* Guarded by the lock of the span's place. */
  uint16_t name_bytes;
  /* 1: the name was already counted in span_names_capped. */
  uint8_t name_capped;
  uint8_t chain; /* length of the chain of parents; fixed while live */
  union {
    char here[SP_SPAN_NAME_INLINE];
    char *elsewhere; /* used if the name does not fit in `here` */
  } name;
} sp_span;

/* The memory of spans, in chunks that are never freed (span_pool.h). */
extern _Atomic(sp_span *) sp_span_chunks[SP_SPAN_CHUNKS]
    __attribute__((visibility("hidden")));

/* Return the live span with this number, or NULL. */
SP_SIGNAL_SAFE static inline sp_span *sp_span_get(spanprof_span number) {
  uint32_t place = (uint32_t)number;
  sp_span *chunk;
  uint64_t state;

  if (SP_UNLIKELY(place >= SP_SPANS_MAX))
    return NULL;
  chunk = atomic_load_explicit(&sp_span_chunks[place / SP_SPAN_CHUNK],
                               memory_order_acquire);
  if (SP_UNLIKELY(!chunk))
    return NULL;
  chunk += place % SP_SPAN_CHUNK;
  state = atomic_load_explicit(&chunk->state, memory_order_acquire);
  return (state >> 32) == (number >> 32) && (state & SP_SPAN_LIVE) ? chunk
                                                                   : NULL;
}

/* Is `span` still the span with this number? A reader calls this function after
 * it has read the span's fields with acquiring loads. If a field already
 * belonged to the next span in this place (a releasing store), the reader sees
 * here that the generation has changed. */
SP_SIGNAL_SAFE static inline bool sp_span_same(const sp_span *span,
                                               spanprof_span number) {
  return atomic_load_explicit(&span->state, memory_order_relaxed) >> 32 ==
         number >> 32;
}

/* While the span `number` is active, samples carry the id of one span (span.h).
 * Return that span, or 0 if there is none. */
SP_SIGNAL_SAFE static inline spanprof_span
sp_span_carried(spanprof_span number) {
  const sp_span *span = sp_span_get(number);
  spanprof_span carried =
      span ? atomic_load_explicit(&span->carried, memory_order_acquire) : 0;

  return span && SP_LIKELY(sp_span_same(span, number)) ? carried : 0;
}

/* Return the span at a place, live or not. */
static inline sp_span *sp_span_at(uint32_t place) {
  return atomic_load_explicit(&sp_span_chunks[place / SP_SPAN_CHUNK],
                              memory_order_acquire) +
         place % SP_SPAN_CHUNK;
}

#endif
