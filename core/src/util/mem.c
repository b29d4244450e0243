#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *default_resize(void *data, void *old, size_t size) {
  (void)data;
  if (size == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, size);
}

const sp_mem sp_mem_default = {.resize = default_resize};

void *sp_mem_new(const sp_mem *mem, size_t size) {
  return mem->resize(mem->data, NULL, size ? size : 1);
}

void *sp_mem_zero(const sp_mem *mem, size_t size) {
  void *p = sp_mem_new(mem, size);

  if (p)
    memset(p, 0, size);
  return p;
}

void *sp_mem_resize(const sp_mem *mem, void *old, size_t size) {
  return mem->resize(mem->data, old, size ? size : 1);
}

void sp_mem_free(const sp_mem *mem, void *old) {
  if (old)
    mem->resize(mem->data, old, 0);
}

char *sp_mem_text(const sp_mem *mem, const char *text, size_t bytes) {
  char *copy = sp_mem_new(mem, bytes + 1);

  if (!copy)
    return NULL;
  if (bytes)
    memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  return copy;
}

spanprof_status sp_mem_reserve(const sp_mem *mem, void **array,
                               size_t *capacity, size_t needed, size_t item) {
  size_t wanted = *capacity ? *capacity : 16;
  void *grown;

  if (needed <= *capacity)
    return SPANPROF_OK;
  while (wanted < needed) {
    if (wanted > SIZE_MAX / 2 / item)
      return SPANPROF_ERR_NOMEM;
    wanted *= 2;
  }
  grown = sp_mem_resize(mem, *array, wanted * item);
  if (!grown)
    return SPANPROF_ERR_NOMEM;
  *array = grown;
  *capacity = wanted;
  return SPANPROF_OK;
}

static void *pages_map(size_t bytes, int flags) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

  return pages == MAP_FAILED ? NULL : pages;
}

void *sp_pages_new(size_t bytes) {
  return pages_map(bytes, MAP_POPULATE);
}

void *sp_pages_reserve(size_t bytes) {
  void *pages = pages_map(bytes, 0);

  /* A huge page takes 2 MB for the first byte. Where there are none this fails,
   * which is as well. */
  if (pages)
    madvise(pages, bytes, MADV_NOHUGEPAGE);
  return pages;
}

void sp_pages_forget(void *pages, size_t bytes) {
  madvise(pages, bytes, MADV_DONTNEED);
}

void sp_pages_free(void *pages, size_t bytes) {
  if (pages)
    munmap(pages, bytes);
}
