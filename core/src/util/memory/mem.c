#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Sanitizers find errors only in blocks of the heap, so in a build with a
 * sanitizer sp_mem_paged maps no pages. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEM_PAGED_BYTES_MIN SIZE_MAX
#else
#define MEM_PAGED_BYTES_MIN ((size_t)64 << 10)
#endif

static void *default_resize(void *data, void *old, size_t size) {
  (void)data;
  if (size == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, size);
}

const sp_mem sp_mem_default = {.resize = default_resize};

/* The header of each block of sp_mem_paged. */
typedef struct mem_head {
  _Alignas(16) size_t bytes; /* size of the block, including this header */
} mem_head;

static bool head_paged(size_t bytes) {
  return bytes >= MEM_PAGED_BYTES_MIN;
}

static mem_head *head_new(size_t bytes) {
  return head_paged(bytes) ? sp_pages_reserve(bytes) : malloc(bytes);
}

static void head_free(mem_head *head) {
  if (head && head_paged(head->bytes))
    sp_pages_free(head, head->bytes);
  else
    free(head);
}

/* Move a block from the heap to mapped pages, or back. */
static mem_head *head_move(mem_head *old, size_t bytes) {
  mem_head *head = head_new(bytes);

  if (!head)
    return NULL;
  memcpy(head, old, sp_min_u64(old->bytes, bytes));
  head_free(old);
  return head;
}

static mem_head *head_resize(mem_head *old, size_t bytes) {
  void *moved;

  if (!old)
    return head_new(bytes);
  if (head_paged(old->bytes) != head_paged(bytes))
    return head_move(old, bytes);
  if (!head_paged(bytes))
    return realloc(old, bytes);
  moved = mremap(old, old->bytes, bytes, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? NULL : moved;
}

static void *paged_resize(void *data, void *old, size_t size) {
  mem_head *head = old ? (mem_head *)old - 1 : NULL;

  (void)data;
  if (size == 0) {
    head_free(head);
    return NULL;
  }
  if (size > SIZE_MAX - sizeof *head)
    return NULL;
  head = head_resize(head, size + sizeof *head);
  if (!head)
    return NULL;
  head->bytes = size + sizeof *head;
  return head + 1;
}

const sp_mem sp_mem_paged = {.resize = paged_resize};

void *sp_mem_new(const sp_mem *mem, size_t size) {
  return mem->resize(mem->data, NULL, size ? size : 1);
}

void *sp_mem_zero(const sp_mem *mem, size_t size) {
  void *p = sp_mem_new(mem, size);

  /* New pages are zero, and use no memory until they are written. */
  if (p && (mem != &sp_mem_paged || !head_paged(size)))
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
  size_t grown_capacity = *capacity ? *capacity : 16;
  void *grown;

  if (needed <= *capacity)
    return SPANPROF_OK;
  while (grown_capacity < needed) {
    if (grown_capacity > SIZE_MAX / 2 / item)
      return SPANPROF_ERR_NOMEM;
    grown_capacity *= 2;
  }
  grown = sp_mem_resize(mem, *array, grown_capacity * item);
  if (!grown)
    return SPANPROF_ERR_NOMEM;
  *array = grown;
  *capacity = grown_capacity;
  return SPANPROF_OK;
}

static void *pages_map(size_t bytes, int flags) {
  void *pages =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

  return pages == MAP_FAILED ? NULL : pages;
}

void *sp_pages_new(size_t bytes) {
  return pages_map(bytes, MAP_PRIVATE | MAP_POPULATE);
}

void *sp_pages_reserve(size_t bytes) {
  void *pages = pages_map(bytes, MAP_PRIVATE);

  /* Without this, one write could use a huge page of 2 MB. madvise() fails on
   * kernels without huge pages, which is harmless. */
  if (pages)
    madvise(pages, bytes, MADV_NOHUGEPAGE);
  return pages;
}

void *sp_pages_share(size_t bytes) {
  return pages_map(bytes, MAP_SHARED);
}

void sp_pages_discard(void *pages, size_t bytes) {
  madvise(pages, bytes, MADV_DONTNEED);
}

void sp_pages_free(void *pages, size_t bytes) {
  if (pages)
    munmap(pages, bytes);
}
