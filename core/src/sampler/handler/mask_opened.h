/* Was our signal blocked until this moment? Then its ticks are of the code that
 * ran meanwhile, and not of the code it arrives in. */
#ifndef SP_MASK_OPENED_H
#define SP_MASK_OPENED_H

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "unwind/dwarf/registers.h"

/* Has the thread just unblocked the signal? Then its ticks piled up while other
 * code ran, perhaps for another span.
 *
 * Known by the registers: a signal that was blocked is delivered when the
 * system call rt_sigprocmask returns, and at that instant the registers still
 * hold its arguments, because the kernel keeps all of them but the result and,
 * on x86-64, rcx and r11. On x86-64 the number of the system call has been
 * replaced by the result, so the instruction before the pc is checked to be a
 * system call. If the call returned the previous mask and that mask allowed the
 * signal, nothing was blocked. That is true of most calls with which
 * swapcontext(3) and allocators protect a few instructions. */
SP_HANDLER_RARE bool sp_mask_just_opened(const sp_registers *registers,
                                         int signal_number);

/* Is the signal blocked but for this moment? In ppoll(2), pselect(2),
 * epoll_pwait(2) and sigsuspend(2) the kernel saves the mask that comes back
 * (Linux 6.1, include/linux/sched/signal.h, sigmask_to_save()): what piled up
 * is from the code around the wait. */
SP_HANDLER_CODE static inline bool sp_mask_open_to_wait(const void *ucontext,
                                                        int signal_number) {
  const ucontext_t *context = ucontext;
  uint64_t mask;

  /* The kernel's sigset_t is one word. sigismember() would be a page of libc's
   * code that nothing else here needs. */
  memcpy(&mask, &context->uc_sigmask, sizeof mask);
  return mask >> (signal_number - 1) & 1;
}

#endif
