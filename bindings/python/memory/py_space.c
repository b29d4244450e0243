#include "py_space.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "util/system/clock.h"

/* Minimum time for which the contents of a space stay valid after the space
 * stopped being current. The core reads the names of a sample's frames within a
 * second. */
#define SPACE_REUSE_NS (5 * SP_NS_PER_S)

/* One per process, because the signal handlers of all threads share it. */
SP_HANDLER_DATA static struct {
  _Atomic(py_sp_space *) current;
  _Atomic uint64_t inside; /* number of handlers between py_sp_space_enter() and
                              py_sp_space_leave() */
  py_sp_space spaces[2];
  _Atomic bool emptying;
  _Atomic uint64_t switched_ns;
  _Atomic uint64_t generations;
  _Atomic uint64_t emptied;
  uint32_t head_bytes; /* set by py_sp_space_open() */
} space_state;

SP_HANDLER_RARE static void space_begin(py_sp_space *space) {
  atomic_store(&space->used, space_state.head_bytes);
  atomic_store(&space->count, 0);
  atomic_store(&space->generation,
               atomic_fetch_add(&space_state.generations, 1) + 1);
}

int py_sp_space_open(uint32_t head_bytes) {
  const size_t bytes = 2 * (size_t)PY_SP_SPACE_BYTES;
  char *base;

  if (atomic_load(&space_state.current))
    return 0;
  base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return -1;
  /* With huge pages (2 MiB), the first write would make half of a space
   * resident. */
  madvise(base, bytes, MADV_NOHUGEPAGE);
  space_state.head_bytes = head_bytes;
  space_state.spaces[0].base = base;
  space_state.spaces[1].base = base + PY_SP_SPACE_BYTES;
  space_begin(&space_state.spaces[0]);
  atomic_store(&space_state.current, &space_state.spaces[0]);
  return 0;
}

SP_HANDLER_CODE py_sp_space *py_sp_space_current(void) {
  return atomic_load_explicit(&space_state.current, memory_order_acquire);
}

SP_HANDLER_RARE uint32_t py_sp_space_allocate(py_sp_space *space,
                                              size_t bytes) {
  uint32_t size = (uint32_t)(bytes + 7) & ~7u, at;

  if (size > PY_SP_SPACE_BYTES / 2 ||
      atomic_load_explicit(&space->used, memory_order_relaxed) >
          PY_SP_SPACE_BYTES - size)
    return 0;
  at = atomic_fetch_add_explicit(&space->used, size, memory_order_relaxed);
  return at <= PY_SP_SPACE_BYTES - size ? at : 0;
}

SP_HANDLER_RARE static void space_empty(py_sp_space *space) {
  const int error = errno;

  atomic_store(&space->generation, 0);
  if (madvise(space->base, PY_SP_SPACE_BYTES, MADV_DONTNEED) != 0)
    memset(space->base, 0, PY_SP_SPACE_BYTES);
  errno = error;
  space_begin(space);
}

SP_HANDLER_RARE py_sp_space *py_sp_space_switch(py_sp_space *full) {
  uint64_t now_ns = sp_monotonic_ns();
  py_sp_space *next = NULL;

  if (atomic_exchange(&space_state.emptying, true))
    return NULL;
  if (atomic_load(&space_state.current) != full) {
    next = atomic_load(&space_state.current);
  } else if (now_ns - atomic_load(&space_state.switched_ns) > SPACE_REUSE_NS &&
             atomic_load(&space_state.inside) == 1) {
    next = &space_state.spaces[full == &space_state.spaces[0]];
    space_empty(next);
    atomic_store(&space_state.switched_ns, now_ns);
    atomic_store(&space_state.current, next);
    atomic_fetch_add(&space_state.emptied, 1);
  }
  atomic_store(&space_state.emptying, false);
  return next;
}

const py_sp_space *py_sp_space_of(uint64_t generation) {
  size_t i;

  for (i = 0; i < 2; i++)
    if (generation != 0 &&
        atomic_load(&space_state.spaces[i].generation) == generation)
      return &space_state.spaces[i];
  return NULL;
}

SP_HANDLER_CODE void py_sp_space_enter(void) {
  atomic_fetch_add_explicit(&space_state.inside, 1, memory_order_seq_cst);
}

SP_HANDLER_CODE void py_sp_space_leave(void) {
  atomic_fetch_sub_explicit(&space_state.inside, 1, memory_order_release);
}

void py_sp_space_quiesce(void) {
  while (atomic_load(&space_state.inside) > 0)
    sched_yield();
}

void py_sp_space_after_fork(void) {
  atomic_store(&space_state.inside, 0);
  atomic_store(&space_state.emptying, false);
}

uint64_t py_sp_space_emptied(void) {
  return atomic_load(&space_state.emptied);
}
