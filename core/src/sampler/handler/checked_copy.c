#include "checked_copy.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define COPY_PIECES_MAX (SP_COPY_BYTES_MAX / SP_COPY_PAGE_BYTES + 1)
/* Maximum number of pages that one system call checks. */
#define COPY_PAGES_MAX 128

SP_HANDLER_RARE size_t sp_copy_checked(void *to, uint64_t from, size_t bytes) {
  struct iovec local = {.iov_base = to, .iov_len = bytes};
  struct iovec remote[COPY_PIECES_MAX];
  uint64_t at = from, end = from + bytes;
  const int error = errno;
  size_t pieces = 0;
  ssize_t copied;

  while (at < end && pieces < COPY_PIECES_MAX) {
    uint64_t page_end = (at | (SP_COPY_PAGE_BYTES - 1)) + 1;
    uint64_t piece_end = sp_min_u64(page_end, end);

    remote[pieces++] = (struct iovec){.iov_base = (void *)(uintptr_t)at,
                                      .iov_len = (size_t)(piece_end - at)};
    at = piece_end;
  }
  /* The result below is rounded down to whole words, because the unwinder reads
   * whole registers. */
  copied =
      syscall(SYS_process_vm_readv, getpid(), &local, 1ul, remote, pieces, 0ul);
  errno = error;
  return copied > 0 ? (size_t)copied & ~(size_t)7 : 0;
}

bool sp_copy_possible(uint64_t from, uint64_t end) {
  uint64_t at = from & ~(uint64_t)(SP_COPY_PAGE_BYTES - 1);
  struct iovec remote[COPY_PAGES_MAX];
  char bytes[COPY_PAGES_MAX];

  while (at < end) {
    struct iovec local = {.iov_base = bytes};

    for (; at < end && local.iov_len < COPY_PAGES_MAX; at += SP_COPY_PAGE_BYTES)
      remote[local.iov_len++] =
          (struct iovec){.iov_base = (void *)(uintptr_t)at, .iov_len = 1};
    if (syscall(SYS_process_vm_readv, getpid(), &local, 1ul, remote,
                local.iov_len, 0ul) != (long)local.iov_len)
      return false;
  }
  return true;
}
