#include "py_trail.h"

#include <stdatomic.h>
#include <stdint.h>

#include "util/base.h"

/* A power of two; threads that share one disturb each other. */
#define TRAIL_THREADS 16

/* Nodes of a context; in 3.10 also frames, which are objects: one cache line
 * of pointers, or nine, too many to be fetched for all threads. */
#if PY_VERSION_HEX >= 0x030b0000
#define TRAIL_LENGTH 7
#define TRAIL_DATA   SP_HANDLER_DATA
#else
#define TRAIL_LENGTH 71
#define TRAIL_DATA
#endif

typedef struct trail {
  _Atomic uint64_t count;
  _Atomic(const void *) at[TRAIL_LENGTH];
} trail;

/* Process-wide, because the signal handler is. */
TRAIL_DATA static _Alignas(SP_CACHE_LINE) trail trails[TRAIL_THREADS];

SP_HANDLER_CODE static trail *trail_of(const PyThreadState *thread) {
  uint64_t hash = (uint64_t)(uintptr_t)thread * UINT64_C(0x9e3779b97f4a7c15);

  return &trails[(hash >> 40) % TRAIL_THREADS];
}

SP_HANDLER_CODE void py_sp_trail_begin(const PyThreadState *thread) {
  trail *own = trail_of(thread);
  uint64_t count = atomic_load_explicit(&own->count, memory_order_relaxed), i;

  for (i = 0; i < count && i < TRAIL_LENGTH; i++)
    __builtin_prefetch(atomic_load_explicit(&own->at[i], memory_order_relaxed));
  atomic_store_explicit(&own->count, 0, memory_order_relaxed);
}

SP_HANDLER_CODE static bool line_same(const trail *own, uint64_t i,
                                      const void *address) {
  uintptr_t at =
      (uintptr_t)atomic_load_explicit(&own->at[i], memory_order_relaxed);

  return at / SP_CACHE_LINE == (uintptr_t)address / SP_CACHE_LINE;
}

SP_HANDLER_CODE void py_sp_trail_note(const PyThreadState *thread,
                                      const void *address) {
  trail *own = trail_of(thread);
  uint64_t count = atomic_load_explicit(&own->count, memory_order_relaxed);

  if (count >= TRAIL_LENGTH ||
      (count > 0 && line_same(own, count - 1, address)))
    return;
  atomic_store_explicit(&own->at[count], address, memory_order_relaxed);
  atomic_store_explicit(&own->count, count + 1, memory_order_relaxed);
}
