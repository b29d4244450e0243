/* py_layout.h must precede <Python.h>, because it needs CPython's internal
 * headers. */
#include "py_layout.h"

/* The following includes are in the usual order. */
#include "py_prefetch.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "util/base.h"

/* Number of lists of addresses, a power of two. Threads that share a list
 * overwrite each other's addresses, which makes their samples slower. */
#define PREFETCH_THREADS 16

typedef struct thread_reads {
  _Atomic uint64_t count;
  _Atomic(const void *) at[PY_SP_LAYOUT_OBJECTS];
} thread_reads;

/* One array per process, because the signal handlers of all threads use it. */
PY_SP_LAYOUT_OBJECTS_DATA static _Alignas(SP_CACHE_LINE)
    thread_reads reads[PREFETCH_THREADS];

SP_HANDLER_CODE static thread_reads *reads_of(const PyThreadState *thread) {
  uint64_t hash = (uint64_t)(uintptr_t)thread * UINT64_C(0x9e3779b97f4a7c15);

  return &reads[(hash >> 40) % PREFETCH_THREADS];
}

SP_HANDLER_CODE void py_sp_prefetch_begin(const PyThreadState *thread) {
  thread_reads *own = reads_of(thread);
  uint64_t count = atomic_load_explicit(&own->count, memory_order_relaxed), i;

  for (i = 0; i < count && i < PY_SP_LAYOUT_OBJECTS; i++)
    layout_object_prefetch(
        atomic_load_explicit(&own->at[i], memory_order_relaxed));
  atomic_store_explicit(&own->count, 0, memory_order_relaxed);
}

SP_HANDLER_CODE static bool line_same(const thread_reads *own, uint64_t i,
                                      const void *address) {
  uintptr_t at =
      (uintptr_t)atomic_load_explicit(&own->at[i], memory_order_relaxed);

  return at / SP_CACHE_LINE == (uintptr_t)address / SP_CACHE_LINE;
}

SP_HANDLER_CODE void py_sp_prefetch_note(const PyThreadState *thread,
                                         const void *address) {
  thread_reads *own = reads_of(thread);
  uint64_t count = atomic_load_explicit(&own->count, memory_order_relaxed);

  if (count >= PY_SP_LAYOUT_OBJECTS ||
      (count > 0 && line_same(own, count - 1, address)))
    return;
  atomic_store_explicit(&own->at[count], address, memory_order_relaxed);
  atomic_store_explicit(&own->count, count + 1, memory_order_relaxed);
}
