/* The registers of an interrupted thread, in DWARF order. */
#ifndef SP_REGISTERS_H
#define SP_REGISTERS_H

#include "util/base.h"

#if defined(__x86_64__)
/* rax rdx rcx rbx rsi rdi rbp rsp r8..r15, return address. Source: System V
 * ABI, AMD64 supplement 1.0, figure 3.36. */
#define SP_REGISTER_COUNT 17
#define SP_REGISTER_FP    6
#define SP_REGISTER_SP    7
#define SP_REGISTER_PC    16
/* Size of the area below sp in which a function without calls may store data
 * (ibid., §3.2.2). */
#define SP_RED_ZONE_BYTES 128
#elif defined(__aarch64__)
/* x0..x30, sp, then the pc, which has no DWARF number. Source: DWARF for the
 * Arm 64-bit Architecture 2023Q3, table 4.1. */
#define SP_REGISTER_COUNT 33
#define SP_REGISTER_FP    29
#define SP_REGISTER_LR    30
#define SP_REGISTER_SP    31
#define SP_REGISTER_PC    32
#define SP_RED_ZONE_BYTES 0
#else
#error "spanprof supports x86-64 and arm64"
#endif

typedef struct sp_registers {
  uint64_t r[SP_REGISTER_COUNT];
} sp_registers;

/* Read the registers from `ucontext`, the third argument of a signal
 * handler. */
SP_HANDLER_CODE void sp_registers_read(sp_registers *out, const void *ucontext);

#endif
