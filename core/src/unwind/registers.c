#include "registers.h"

#include <ucontext.h>

#if defined(__x86_64__)

SP_SIGNAL_SAFE void sp_registers_read(sp_registers *out, const void *ucontext) {
  /* gregs' index of each register in DWARF order. */
  static const uint8_t places[SP_REGISTER_COUNT] = {
      REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
  };
  const ucontext_t *context = ucontext;
  size_t i;

  for (i = 0; i < SP_REGISTER_COUNT; i++)
    out->r[i] = (uint64_t)context->uc_mcontext.gregs[places[i]];
}

#else

SP_SIGNAL_SAFE void sp_registers_read(sp_registers *out, const void *ucontext) {
  const ucontext_t *context = ucontext;
  size_t i;

  for (i = 0; i < SP_REGISTER_SP; i++)
    out->r[i] = context->uc_mcontext.regs[i];
  out->r[SP_REGISTER_SP] = context->uc_mcontext.sp;
  out->r[SP_REGISTER_PC] = context->uc_mcontext.pc;
}

#endif
