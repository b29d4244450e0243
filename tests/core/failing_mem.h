/* An allocator whose n-th request fails, and a test that repeats a scenario
 * with every n. */
#ifndef FAILING_MEM_H
#define FAILING_MEM_H

#include "check.h"
#include "util/memory/mem.h"

typedef struct failing_mem {
  sp_mem mem;
  size_t requests;
  /* Number of the request that fails, from 1; 0: no request fails. */
  size_t fail_at;
  long live;
} failing_mem;

static inline void *failing_resize(void *data, void *old, size_t size) {
  failing_mem *failing = data;
  void *p;

  if (size == 0) {
    if (old)
      failing->live--;
    free(old);
    return NULL;
  }
  if (++failing->requests == failing->fail_at)
    return NULL;
  p = realloc(old, size);
  if (p && !old)
    failing->live++;
  return p;
}

static inline void failing_mem_init(failing_mem *failing, size_t fail_at) {
  memset(failing, 0, sizeof *failing);
  failing->mem.resize = failing_resize;
  failing->mem.data = failing;
  failing->fail_at = fail_at;
}

/* Run `scenario` again and again, while the 1st, 2nd, … request fails, until a
 * run makes fewer requests. After each run, all memory must be freed. */
static inline void failing_mem_sweep(void (*scenario)(const sp_mem *mem)) {
  size_t n;

  for (n = 1;; n++) {
    failing_mem failing;

    failing_mem_init(&failing, n);
    scenario(&failing.mem);
    CHECK_EQUAL(failing.live, 0);
    if (failing.requests < n)
      return;
  }
}

#endif
