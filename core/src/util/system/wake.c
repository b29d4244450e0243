#include "wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void sp_wake_call(sp_wake *wake) {
  const int error = errno;

  if (atomic_exchange_explicit(&wake->called, 1, memory_order_acq_rel) == 0)
    syscall(SYS_futex, &wake->called, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = error;
}

void sp_wake_clear(sp_wake *wake) {
  /* This is an exchange, because a store cannot acquire. It makes visible all
   * work that was finished before a call that is cleared here. */
  atomic_exchange_explicit(&wake->called, 0, memory_order_acq_rel);
}

void sp_wake_wait(sp_wake *wake, uint64_t until_ns) {
  struct timespec until = {.tv_sec = (time_t)(until_ns / SP_NS_PER_S),
                           .tv_nsec = (long)(until_ns % SP_NS_PER_S)};

  /* FUTEX_WAIT_BITSET uses an absolute CLOCK_MONOTONIC time (futex(2)). */
  if (atomic_load_explicit(&wake->called, memory_order_acquire) == 0)
    syscall(SYS_futex, &wake->called, FUTEX_WAIT_BITSET_PRIVATE, 0,
            until_ns == UINT64_MAX ? NULL : &until, NULL,
            FUTEX_BITSET_MATCH_ANY);
}
