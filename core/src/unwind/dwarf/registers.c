#include "registers.h"

#include <ucontext.h>

#if defined(__x86_64__)

SP_HANDLER_CODE void sp_registers_read(sp_registers *out,
                                       const void *ucontext) {
  const greg_t *from = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

  /* The registers in DWARF order. A table of their positions would be on a page
   * that the handler does not need otherwise, which costs 0.4 us if the page is
   * in no cache. */
  out->r[0] = (uint64_t)from[REG_RAX];
  out->r[1] = (uint64_t)from[REG_RDX];
  out->r[2] = (uint64_t)from[REG_RCX];
  out->r[3] = (uint64_t)from[REG_RBX];
  out->r[4] = (uint64_t)from[REG_RSI];
  out->r[5] = (uint64_t)from[REG_RDI];
  out->r[6] = (uint64_t)from[REG_RBP];
  out->r[7] = (uint64_t)from[REG_RSP];
  out->r[8] = (uint64_t)from[REG_R8];
  out->r[9] = (uint64_t)from[REG_R9];
  out->r[10] = (uint64_t)from[REG_R10];
  out->r[11] = (uint64_t)from[REG_R11];
  out->r[12] = (uint64_t)from[REG_R12];
  out->r[13] = (uint64_t)from[REG_R13];
  out->r[14] = (uint64_t)from[REG_R14];
  out->r[15] = (uint64_t)from[REG_R15];
  out->r[16] = (uint64_t)from[REG_RIP];
}

#else

SP_HANDLER_CODE void sp_registers_read(sp_registers *out,
                                       const void *ucontext) {
  const ucontext_t *context = ucontext;
  size_t i;

  for (i = 0; i < SP_REGISTER_SP; i++)
    out->r[i] = context->uc_mcontext.regs[i];
  out->r[SP_REGISTER_SP] = context->uc_mcontext.sp;
  out->r[SP_REGISTER_PC] = context->uc_mcontext.pc;
}

#endif
