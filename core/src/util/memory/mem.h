/* Allocators. All memory is allocated through an sp_mem that callers pass, so
 * that a test can fail the n-th request. */
#ifndef SP_MEM_H
#define SP_MEM_H

#include "util/base.h"

typedef struct sp_mem {
  /* Behaves like realloc(): allocates if `old` is NULL; frees `old` and returns
   * NULL if `size` is 0. */
  void *(*resize)(void *data, void *old, size_t size);
  void *data;
} sp_mem;

/* The C library's allocator. */
extern const sp_mem sp_mem_default;

/* The C library's allocator for small blocks; blocks of 64 KiB and more are
 * mapped pages. Sessions use this allocator, because their tables grow at the
 * same time: in the heap, each table leaves gaps at its former addresses (949
 * of 1,597 KB of a collector's heap were free). Free its blocks only through
 * sp_mem_paged, never with free(). */
extern const sp_mem sp_mem_paged;

/* Returns NULL if there is no memory. */
void *sp_mem_new(const sp_mem *mem, size_t size);
void *sp_mem_zero(const sp_mem *mem, size_t size); /* all bytes are 0 */
void *sp_mem_resize(const sp_mem *mem, void *old, size_t size);
void sp_mem_free(const sp_mem *mem, void *old); /* `old` may be NULL */

/* Return a NUL-terminated copy of `bytes` bytes of `text`. */
char *sp_mem_text(const sp_mem *mem, const char *text, size_t bytes);

/* Grow `*array`, whose items have `item` bytes, to at least `needed` items; the
 * capacity doubles. On failure the array is unchanged. */
spanprof_status sp_mem_reserve(const sp_mem *mem, void **array,
                               size_t *capacity, size_t needed, size_t item);

/* Map zeroed pages and touch them, so that writing to them causes no page
 * faults. For memory that the signal handler writes. sp_mem does not count
 * them. Returns NULL if there is no memory. */
void *sp_pages_new(size_t bytes);

/* Map zeroed pages without touching them: each page uses memory only after a
 * write to it. Returns NULL if there is no memory. */
void *sp_pages_reserve(size_t bytes);

/* Map zeroed pages that are shared with forked children. Returns NULL if there
 * is no memory. */
void *sp_pages_share(size_t bytes);

/* Return the memory of whole pages to the system. The pages stay mapped and
 * read as zero. */
void sp_pages_discard(void *pages, size_t bytes);

void sp_pages_free(void *pages, size_t bytes); /* `pages` may be NULL */

#endif
