/* Detects ticks that were delayed because the thread blocked spanprof's signal.
 * They belong to the code that ran while the signal was blocked, not to the
 * code that the signal interrupts. */
#ifndef SP_SIGNAL_UNBLOCKED_H
#define SP_SIGNAL_UNBLOCKED_H

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "unwind/dwarf/registers.h"

/* Has the thread just unblocked the signal? If so, its ticks accumulated while
 * other code ran, perhaps for another span.
 *
 * The registers show this. A blocked signal is delivered when the system call
 * rt_sigprocmask returns. At that instant the registers still contain its
 * arguments, because the kernel preserves all registers except the result and,
 * on x86-64, rcx and r11. On x86-64 the result has replaced the system call's
 * number, so the function checks that the instruction before the pc is a system
 * call. If the call returned the previous mask and that mask did not block the
 * signal, then the signal was not blocked before. That is true of most calls by
 * which swapcontext(3) and allocators protect a few instructions. */
SP_HANDLER_RARE bool sp_signal_just_unblocked(const sp_registers *registers,
                                              int signal_number);

/* Is the signal unblocked only during the current system call? ppoll(2),
 * pselect(2), epoll_pwait(2) and sigsuspend(2) unblock signals while they wait,
 * and the kernel saves the mask that it restores afterwards (Linux 6.1,
 * include/linux/sched/signal.h, sigmask_to_save()). Ticks that accumulated
 * belong to the code around the wait. */
SP_HANDLER_CODE static inline bool
sp_signal_unblocked_by_wait(const void *ucontext, int signal_number) {
  const ucontext_t *context = ucontext;
  uint64_t mask;

  /* The kernel's sigset_t is one word. sigismember() would touch a page of
   * libc's code that the handler does not need otherwise. */
  memcpy(&mask, &context->uc_sigmask, sizeof mask);
  return mask >> (signal_number - 1) & 1;
}

#endif
