/* Spans in memory, and their lookup by number: the part of spans that the
 * signal handler reads. The folder `span` has the other part.
 *
 * A span's number consists of its place in memory and the place's generation,
 * so that the number of a freed span finds nothing.
 *
 * Protocol: the starting thread fills a span and makes it visible by storing
 * its state (release). Fields that are constant after that may be read by any
 * thread, which then checks that the generation is unchanged. The lock of the
 * span's place guards the name (span_name.h), the lock of its shard guards
 * `table_next` (span_table.h), and the sweep's lock guards `marked`. */
#ifndef SP_SPAN_RECORD_H
#define SP_SPAN_RECORD_H

#include "util/base.h"

/* Bits of the lower half of `state`. The upper half is the generation. */
#define SP_SPAN_LIVE   1u /* started and not freed */
#define SP_SPAN_ENDED  2u
#define SP_SPAN_TRACED 4u /* its trace is sampled */
#define SP_SPAN_ROOT   8u /* a local root */
/* This bit and the following ones: the rules at its start. */
#define SP_SPAN_ADD_NAME     16u
#define SP_SPAN_ADD_TRACE_ID 32u
#define SP_SPAN_LEGACY_LABEL 64u
#define SP_SPAN_ID_LABEL     128u

#define SP_SPAN_CHUNK  256u
#define SP_SPAN_CHUNKS 16384u
#define SP_SPANS_MAX   (SP_SPAN_CHUNK * SP_SPAN_CHUNKS)

#define SP_SPAN_NAME_INLINE 48

/* Value of `refs` while a span is being freed, is free, or is not filled
 * yet. */
#define SP_SPAN_REFS_DEAD (1u << 31)

/* Maximum number of ancestors that a span keeps alive through `parent`. Beyond
 * it, a span has no `parent` and starts a new chain. Reason: a child that never
 * ends keeps all ancestors of its chain alive, and their number would be
 * unlimited in a trace in which each span continues the previous one. Samples
 * name SP_SPAN_ANCESTORS_MAX ancestors, so the limit affects only the first
 * spans of a new chain. */
#define SP_SPAN_CHAIN_MAX 64

typedef struct sp_span {
  _Atomic uint64_t state;
  /* Fixed while live: see sp_span_same(). Ids are stored in their byte
   * order. */
  _Atomic spanprof_span carried;
  _Atomic spanprof_span root;   /* 0: unknown */
  _Atomic spanprof_span parent; /* nearest sampled local ancestor; 0: none */
  _Atomic uint64_t span_id;
  _Atomic uint64_t trace_id[2];
  /* Number of references: spans that carry this span or have it as root or
   * parent, and callers of spanprof_span_retain(). SP_SPAN_REFS_DEAD: no
   * reference may be added. */
  _Atomic uint32_t refs;
  /* Place + 1 of the next free or ended span in the same list. */
  _Atomic uint32_t next;
  /* Guarded by the shard's lock. */
  uint32_t table_next; /* place + 1 */
  /* Guarded by the sweep's lock. */
  uint32_t marked; /* last pass that found the span on a stack */
  /* Guarded by the name's lock. */
  uint16_t name_bytes;
  uint8_t name_capped; /* already counted as capped */
  uint8_t chain;       /* number of ancestors by `parent`; fixed while live */
  union {
    char here[SP_SPAN_NAME_INLINE];
    char *elsewhere; /* if name_bytes is larger */
  } name;
} sp_span;

/* The memory of spans, in chunks that are never freed (span_pool.h). */
extern _Atomic(sp_span *) sp_span_chunks[SP_SPAN_CHUNKS]
    __attribute__((visibility("hidden")));

/* The live span with this number, or NULL. */
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

/* Is this still the span with this number? Call it after reading the span's
 * fields with acquiring loads: a caller that read a value of the next owner (a
 * releasing store) sees here that the number was retired before. */
SP_SIGNAL_SAFE static inline bool sp_span_same(const sp_span *span,
                                               spanprof_span number) {
  return atomic_load_explicit(&span->state, memory_order_relaxed) >> 32 ==
         number >> 32;
}

/* The span whose id samples carry while `number` is active. */
SP_SIGNAL_SAFE static inline spanprof_span
sp_span_carried(spanprof_span number) {
  const sp_span *span = sp_span_get(number);
  spanprof_span carried =
      span ? atomic_load_explicit(&span->carried, memory_order_acquire) : 0;

  return span && SP_LIKELY(sp_span_same(span, number)) ? carried : 0;
}

/* The span at a place, whether live or not. */
static inline sp_span *sp_span_at(uint32_t place) {
  return atomic_load_explicit(&sp_span_chunks[place / SP_SPAN_CHUNK],
                              memory_order_acquire) +
         place % SP_SPAN_CHUNK;
}

#endif
