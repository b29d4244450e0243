/* A span as it stands in memory, and how it is found by its number: what the
 * handler reads of spans. The rest is in the room of spans.
 *
 * A number is a place and its generation, so that the number of a span that was
 * freed finds nothing.
 *
 * Protocol: the starting thread fills a span and makes it visible by its state
 * (release). What does not change after that is read by anyone who then finds
 * the generation unchanged; the name is guarded by the lock of its place
 * (span_name.h), the chain by that of its shard (span_table.h), the sweep's
 * fields by the sweep's lock. */
#ifndef SP_SPAN_RECORD_H
#define SP_SPAN_RECORD_H

#include "util/base.h"

/* Bits of the lower half of a state; the upper half is the generation. */
#define SP_SPAN_LIVE         1u /* started and not freed */
#define SP_SPAN_ENDED        2u
#define SP_SPAN_TRACED       4u  /* the trace flag: sampled */
#define SP_SPAN_ROOT         8u  /* a local root */
#define SP_SPAN_ADD_NAME     16u /* from here on: the rules it started with */
#define SP_SPAN_ADD_TRACE_ID 32u
#define SP_SPAN_LEGACY_LABEL 64u
#define SP_SPAN_ID_LABEL     128u

#define SP_SPAN_CHUNK  256u
#define SP_SPAN_CHUNKS 16384u
#define SP_SPANS_MAX   (SP_SPAN_CHUNK * SP_SPAN_CHUNKS)

#define SP_SPAN_NAME_INLINE 48

/* Of a span that is being freed, is free, or is not filled yet. */
#define SP_SPAN_REFS_DEAD (1u << 31)

/* Parents that follow each other at most: the next span starts a new chain. A
 * child that is never ended keeps its chain, and a trace whose spans each
 * continue the one before would be one chain without end. Samples name
 * SP_SPAN_ANCESTORS_MAX, so only the first spans of a new chain show fewer. */
#define SP_SPAN_CHAIN_MAX 64

typedef struct sp_span {
  _Atomic uint64_t state;
  /* Fixed while live: see sp_span_same(). Ids are the bytes as they stand
   * in memory. */
  _Atomic spanprof_span carried;
  _Atomic spanprof_span root;   /* 0: unknown */
  _Atomic spanprof_span parent; /* whose samples its own are a part of; or 0 */
  _Atomic uint64_t span_id;
  _Atomic uint64_t trace_id[2];
  /* Spans that carry this one, or have it as their root or parent, and those
   * who retain it; or SP_SPAN_REFS_DEAD, which nobody may count up. */
  _Atomic uint32_t refs;
  /* Place + 1 of the next one free, ended or waiting for the sweep. */
  _Atomic uint32_t next;
  /* Guarded by the shard's lock. */
  uint32_t table_next; /* place + 1 */
  /* Guarded by the sweep's lock. */
  uint32_t marked; /* the last pass that found it on a stack */
  /* Guarded by the name's lock. */
  uint16_t name_bytes;
  uint8_t name_capped; /* counted as such */
  uint8_t chain;       /* fixed while live: parents, one after the other */
  union {
    char here[SP_SPAN_NAME_INLINE];
    char *elsewhere; /* where name_bytes is larger */
  } name;
} sp_span;

/* The memory of spans, in chunks that are never given back (span_pool.h). */
extern _Atomic(sp_span *) sp_span_chunks[SP_SPAN_CHUNKS]
    __attribute__((visibility("hidden")));

/* The span behind a number, or NULL. */
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

/* Is it still the span of this number? Asked after its fields were read, by
 * acquiring loads: whoever read what the next owner stored (releasing) sees
 * here that the number was retired before. */
SP_SIGNAL_SAFE static inline bool sp_span_same(const sp_span *span,
                                               spanprof_span number) {
  return atomic_load_explicit(&span->state, memory_order_relaxed) >> 32 ==
         number >> 32;
}

/* The span whose id samples under `number` carry. */
SP_SIGNAL_SAFE static inline spanprof_span
sp_span_carried(spanprof_span number) {
  const sp_span *span = sp_span_get(number);
  spanprof_span carried =
      span ? atomic_load_explicit(&span->carried, memory_order_acquire) : 0;

  return span && SP_LIKELY(sp_span_same(span, number)) ? carried : 0;
}

/* The span in a place, live or not. */
static inline sp_span *sp_span_at(uint32_t place) {
  return atomic_load_explicit(&sp_span_chunks[place / SP_SPAN_CHUNK],
                              memory_order_acquire) +
         place % SP_SPAN_CHUNK;
}

#endif
