#include "span_pool.h"

#include <pthread.h>

#include "span_fork.h"
#include "util/memory/mem.h"

static struct {
  /* Written by any thread: number of changes << 32 | place + 1 of the first
   * free span. The number of changes prevents the ABA problem: a slow thread
   * cannot restore an old chain. */
  _Atomic uint64_t free;
  /* Guards `chunks`. */
  pthread_mutex_t lock;
  uint32_t chunks;
} span_pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Add the chain from `first` to `last` (each a place + 1) at the start of the
 * free list. */
static void pool_chain_push(uint32_t first, uint32_t last) {
  uint64_t head = atomic_load_explicit(&span_pool.free, memory_order_relaxed);

  do {
    atomic_store_explicit(&sp_span_at(last - 1)->next, (uint32_t)head,
                          memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(
      &span_pool.free, &head, ((head >> 32) + 1) << 32 | first,
      memory_order_release, memory_order_relaxed));
}

/* Remove the first free span from the free list. Returns its place + 1, or 0 if
 * no span is free. */
static uint32_t pool_chain_pop(void) {
  uint64_t head = atomic_load_explicit(&span_pool.free, memory_order_acquire);

  while ((uint32_t)head != 0) {
    uint32_t next = atomic_load_explicit(&sp_span_at((uint32_t)head - 1)->next,
                                         memory_order_relaxed);

    if (atomic_compare_exchange_weak_explicit(
            &span_pool.free, &head, ((head >> 32) + 1) << 32 | next,
            memory_order_acquire, memory_order_acquire))
      break;
  }
  return (uint32_t)head;
}

/* Allocate a chunk of spans. *acquired is the place + 1 of its first span; the
 * others become free. The caller holds `span_pool.lock`. */
static spanprof_status pool_grow(uint32_t *acquired) {
  uint32_t first = span_pool.chunks * SP_SPAN_CHUNK + 1;
  sp_span *chunk;
  uint32_t i;

  if (span_pool.chunks == SP_SPAN_CHUNKS)
    return SPANPROF_ERR_LIMIT;
  chunk = sp_pages_new(SP_SPAN_CHUNK * sizeof *chunk);
  if (!chunk)
    return SPANPROF_ERR_NOMEM;
  for (i = 0; i < SP_SPAN_CHUNK; i++) {
    atomic_store_explicit(&chunk[i].state, UINT64_C(1) << 32,
                          memory_order_relaxed);
    atomic_store_explicit(&chunk[i].refs, SP_SPAN_REFS_DEAD,
                          memory_order_relaxed);
    atomic_store_explicit(&chunk[i].next, first + i + 1, memory_order_relaxed);
  }
  atomic_store_explicit(&sp_span_chunks[span_pool.chunks], chunk,
                        memory_order_release);
  span_pool.chunks++;
  *acquired = first;
  pool_chain_push(first + 1, first + SP_SPAN_CHUNK - 1);
  return SPANPROF_OK;
}

spanprof_status sp_span_pool_acquire(sp_span **out, spanprof_span *number) {
  uint32_t acquired = pool_chain_pop();
  spanprof_status st = SPANPROF_OK;

  *out = NULL;
  *number = 0;
  if (!acquired) {
    sp_span_fork_ready();
    pthread_mutex_lock(&span_pool.lock);
    acquired = pool_chain_pop();
    if (!acquired)
      st = pool_grow(&acquired);
    pthread_mutex_unlock(&span_pool.lock);
    if (st)
      return st;
  }
  *out = sp_span_at(acquired - 1);
  *number = (atomic_load_explicit(&(*out)->state, memory_order_relaxed) >> 32)
                << 32 |
            (acquired - 1);
  return SPANPROF_OK;
}

void sp_span_pool_publish(sp_span *span, spanprof_span number, uint32_t bits) {
  atomic_store_explicit(&span->state, (number >> 32) << 32 | bits,
                        memory_order_release);
}

void sp_span_pool_retire(sp_span *span) {
  uint32_t generation =
      (uint32_t)(atomic_load_explicit(&span->state, memory_order_relaxed) >>
                 32) +
      1;

  /* The generation 0 is skipped, because the number of the first place would be
   * 0. */
  if (generation == 0)
    generation = 1;
  atomic_store_explicit(&span->state, (uint64_t)generation << 32,
                        memory_order_release);
}

void sp_span_pool_release(spanprof_span number) {
  pool_chain_push((uint32_t)number + 1, (uint32_t)number + 1);
}

void sp_span_pool_lock(void) {
  pthread_mutex_lock(&span_pool.lock);
}

void sp_span_pool_unlock(void) {
  pthread_mutex_unlock(&span_pool.lock);
}
