/* Memory: the only door to the allocator. An sp_mem is passed to whoever
 * allocates, so that a test can fail the n-th request. */
#ifndef SP_MEM_H
#define SP_MEM_H

#include "util/base.h"

typedef struct sp_mem {
  /* As realloc(): `old` NULL allocates, `size` 0 frees and returns NULL. */
  void *(*resize)(void *data, void *old, size_t size);
  void *data;
} sp_mem;

/* The C library's allocator. */
extern const sp_mem sp_mem_default;

/* The same for small blocks; those of 64 KiB and more are pages of their own.
 * For a session, whose tables grow beside each other: in the heap each leaves
 * gaps where it was: of 1,597 KB of a collector's heap 949 were free. Blocks go
 * back to the sp_mem that they are of, and never to free(). */
extern const sp_mem sp_mem_paged;

void *sp_mem_new(const sp_mem *mem, size_t size);  /* NULL: none left */
void *sp_mem_zero(const sp_mem *mem, size_t size); /* all bytes 0 */
void *sp_mem_resize(const sp_mem *mem, void *old, size_t size);
void sp_mem_free(const sp_mem *mem, void *old); /* NULL is fine */

/* A NUL-terminated copy of `bytes` of `text`. */
char *sp_mem_text(const sp_mem *mem, const char *text, size_t bytes);

/* Grow `*array` of items of `item` bytes so that it holds `needed`; doubles.
 * On failure the array is as before. */
spanprof_status sp_mem_reserve(const sp_mem *mem, void **array,
                               size_t *capacity, size_t needed, size_t item);

/* Pages from the system, zero and touched, never counted by sp_mem; for what
 * the signal handler writes. NULL: none. */
void *sp_pages_new(size_t bytes);

/* The same, untouched: a page takes memory once something is written to it. */
void *sp_pages_reserve(size_t bytes);

/* Map zeroed pages that are shared with forked children. NULL: no memory. */
void *sp_pages_share(size_t bytes);

/* Give back the memory of whole pages, which are zero and untouched again. */
void sp_pages_discard(void *pages, size_t bytes);

void sp_pages_free(void *pages, size_t bytes); /* NULL is fine */

#endif
