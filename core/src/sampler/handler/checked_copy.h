/* Copies memory that may be partly unmapped. */
#ifndef SP_CHECKED_COPY_H
#define SP_CHECKED_COPY_H

#include "util/base.h"

#define SP_COPY_PAGE_BYTES 4096
#define SP_COPY_BYTES_MAX  (64 * 1024)

/* Copy at most `bytes` bytes, up to SP_COPY_BYTES_MAX, with a system call that
 * stops at unreadable memory. Each page is copied separately, because the
 * kernel copies an iovec item completely or not at all. Returns the number of
 * bytes copied, in whole words. */
SP_HANDLER_RARE size_t sp_copy_checked(void *to, uint64_t from, size_t bytes);

/* Is every page of [from, end) readable? The process's memory map does not show
 * this: since Linux 6.13, guard pages may be part of a mapping
 * (MADV_GUARD_INSTALL, used by glibc 2.42). The handler must not call this. */
bool sp_copy_possible(uint64_t from, uint64_t end);

#endif
