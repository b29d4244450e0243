/* Copying memory that may end anywhere. */
#ifndef SP_CHECKED_COPY_H
#define SP_CHECKED_COPY_H

#include "util/base.h"

#define SP_COPY_PAGE_BYTES 4096
#define SP_COPY_BYTES_MAX  (64 * 1024)

/* Copy at most `bytes`, up to SP_COPY_BYTES_MAX, with a system call that stops
 * where memory does: one piece a page, because a piece is copied whole or not.
 * Returns how many it were, whole words. */
SP_HANDLER_RARE size_t sp_copy_checked(void *to, uint64_t from, size_t bytes);

/* Can every page that has a byte of [from, end) be read? For guard pages the
 * process's map is no answer: since Linux 6.13 they may be part of a mapping
 * (MADV_GUARD_INSTALL, as glibc 2.42 does). Not for the handler. */
bool sp_copy_possible(uint64_t from, uint64_t end);

#endif
