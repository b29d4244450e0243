#include "py_probe.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/base.h"

#define PROBE_PAGE_SHIFT 12

/* The size of the kernel's sigset_t on every 64-bit Linux. */
#define PROBE_SIGSET_BYTES 8

/* Ask the kernel whether a page is readable. The system call reads a signal set
 * from the page and then refuses the unknown `how`. So it fails with EFAULT if
 * the page is not readable, otherwise with EINVAL, and changes nothing (Linux
 * 6.1, kernel/signal.c, rt_sigprocmask). */
SP_HANDLER_CODE static bool page_query(uintptr_t page) {
  const int error = errno;
  bool readable;

  readable = syscall(SYS_rt_sigprocmask, ~0, (void *)(page << PROBE_PAGE_SHIFT),
                     NULL, PROBE_SIGSET_BYTES) != 0 &&
             errno != EFAULT;
  errno = error;
  return readable;
}

SP_HANDLER_CODE static bool page_readable(py_sp_probe *probe, uintptr_t page) {
  unsigned i;

  /* Page 0 is never readable, and a 0 in `pages` is an empty slot. */
  if (page == 0)
    return false;
  for (i = 0; i < PY_SP_PROBE_PAGES; i++)
    if (probe->pages[i] == page)
      return true;
  if (!page_query(page))
    return false;
  probe->pages[probe->next++ % PY_SP_PROBE_PAGES] = page;
  return true;
}

SP_HANDLER_CODE bool py_sp_probe_readable(py_sp_probe *probe, const void *at,
                                          size_t bytes) {
  uintptr_t first = (uintptr_t)at;
  uintptr_t last = first + bytes - 1;

  if (last < first)
    return false;
  if (first >= probe->stack_start && last < probe->stack_end)
    return true;
  first >>= PROBE_PAGE_SHIFT;
  last >>= PROBE_PAGE_SHIFT;
  return page_readable(probe, first) &&
         (first == last || page_readable(probe, last));
}
