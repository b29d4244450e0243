#include "signal_unblocked.h"

#include <sys/syscall.h>

#include "checked_copy.h"

#if defined(__x86_64__)
/* Read the eight bytes of code before `pc`. This checks the memory, because the
 * previous page may not be mapped. */
SP_HANDLER_RARE static bool code_before(unsigned char out[8], uint64_t pc) {
  if (pc % SP_COPY_PAGE_BYTES < 8)
    return sp_copy_checked(out, pc - 8, 8) == 8;
  memcpy(out, (const void *)(uintptr_t)(pc - 8), 8);
  return true;
}
#endif

/* Was the signal unblocked before the call of rt_sigprocmask? `before` is the
 * address to which the kernel wrote the previous mask, or 0. */
SP_HANDLER_RARE static bool signal_was_unblocked(uint64_t before,
                                                 int signal_number) {
  uint64_t mask;

  return before != 0 &&
         sp_copy_checked(&mask, before, sizeof mask) == sizeof mask &&
         !(mask >> (signal_number - 1) & 1);
}

SP_HANDLER_RARE bool sp_signal_just_unblocked(const sp_registers *registers,
                                              int signal_number) {
  const uint64_t *r = registers->r;
#if defined(__x86_64__)
  unsigned char before[8];

  /* The state after rt_sigprocmask: rax = 0 (result), r10 = sizeof(kernel
   * sigset_t), rdi = how, rdx = address of the previous mask. The previous
   * instruction is syscall, 0f 05. */
  return r[0] == 0 && r[10] == 8 &&
         (r[5] == SIG_UNBLOCK || r[5] == SIG_SETMASK) &&
         code_before(before, r[16]) && before[6] == 0x0f && before[7] == 0x05 &&
         !signal_was_unblocked(r[1], signal_number);
#else
  return r[8] == SYS_rt_sigprocmask && r[0] == 0 &&
         !signal_was_unblocked(r[2], signal_number);
#endif
}
