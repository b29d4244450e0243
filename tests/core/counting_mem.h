/* An allocator that counts the allocated bytes, and their maximum. */
#ifndef COUNTING_MEM_H
#define COUNTING_MEM_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory/mem.h"

typedef struct counting_mem {
  sp_mem mem;
  size_t bytes;
  size_t peak_bytes;
} counting_mem;

static inline void *counting_resize(void *data, void *old, size_t size) {
  counting_mem *counting = data;
  const size_t before = old ? malloc_usable_size(old) : 0;
  void *p;

  if (size == 0) {
    counting->bytes -= before;
    free(old);
    return NULL;
  }
  p = realloc(old, size);
  if (!p)
    return NULL;
  counting->bytes += malloc_usable_size(p) - before;
  if (counting->bytes > counting->peak_bytes)
    counting->peak_bytes = counting->bytes;
  return p;
}

static inline void counting_mem_init(counting_mem *counting) {
  memset(counting, 0, sizeof *counting);
  counting->mem.resize = counting_resize;
  counting->mem.data = counting;
}

#endif
