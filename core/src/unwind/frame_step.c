#include "frame_step.h"

#include <string.h>

#if defined(__x86_64__)

#define STEP_RETURN_BELOW_CFA true

/* Layout of the frame that the kernel creates for a handler. After the handler
 * has returned, a ucontext is at sp; its uc_mcontext begins at offset 40.
 * Source: Linux 6.1, arch/x86/include/asm/sigframe.h (struct rt_sigframe) and
 * arch/x86/include/uapi/asm/sigcontext.h (struct sigcontext_64). */
#define STEP_SIGNAL_REGISTERS 40

/* The position of each register in uc_mcontext, in words, in DWARF order. */
static const uint8_t step_signal_words[SP_REGISTER_COUNT] = {
    13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16,
};

static uint64_t step_return_address(uint64_t address) {
  return address;
}

#else

#define STEP_RETURN_BELOW_CFA false

/* Layout of the frame that the kernel creates for a handler: siginfo (128
 * bytes), then ucontext, whose uc_mcontext begins at offset 176 and contains
 * fault_address before the registers. Source: Linux 6.1,
 * arch/arm64/kernel/signal.c (struct rt_sigframe),
 * arch/arm64/include/uapi/asm/sigcontext.h. */
#define STEP_SIGNAL_REGISTERS (128 + 176 + 8)

static const uint8_t step_signal_words[SP_REGISTER_COUNT] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/* Remove the signature of the pointer with XPACLRI, which does nothing if
 * pointers are not signed (Arm ARM DDI 0487J, C6.2.474). */
static uint64_t step_return_address(uint64_t address) {
  register uint64_t lr __asm__("x30") = address;

  __asm__("hint #7" : "+r"(lr));
  return lr;
}

#endif

static bool step_contains(const sp_stack_slice *slice, uint64_t address) {
  return address >= slice->base && slice->size >= sizeof(uint64_t) &&
         address - slice->base <= slice->size - sizeof(uint64_t);
}

static bool step_read(const sp_stack_slice *slice, uint64_t address,
                      uint64_t *out) {
  if (!step_contains(slice, address))
    return false;
  memcpy(out, (const char *)slice->bytes + (address - slice->base),
         sizeof *out);
  return true;
}

static bool step_register(const sp_frame_state *state, uint8_t number,
                          uint64_t *out) {
  if (!state->all && number != SP_REGISTER_SP &&
      (number != SP_REGISTER_FP || !state->fp_known))
    return false;
  *out = state->registers.r[number];
  return true;
}

static sp_step step_signal(sp_frame_state *state) {
  const uint64_t from = state->registers.r[SP_REGISTER_SP];
  sp_registers registers;
  size_t i;

  for (i = 0; i < SP_REGISTER_COUNT; i++)
    if (!step_read(state->slice,
                   from + STEP_SIGNAL_REGISTERS +
                       sizeof(uint64_t) * step_signal_words[i],
                   &registers.r[i]))
      return SP_STEP_CUT;
  state->registers = registers;
  state->all = true;
  state->fp_known = true;
  return registers.r[SP_REGISTER_PC] ? SP_STEP_CALLER : SP_STEP_COMPLETE;
}

static sp_step step_cfa(const sp_frame_state *state, const sp_unwind_rule *rule,
                        uint64_t *cfa) {
  uint64_t base;

  switch (rule->cfa_kind) {
  case SP_CFA_REGISTER:
  case SP_CFA_DEREF:
    if (!step_register(state, rule->cfa_register, &base))
      return SP_STEP_UNSUPPORTED;
    *cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->cfa_kind == SP_CFA_REGISTER)
      return SP_STEP_CALLER;
    if (!step_read(state->slice, *cfa, cfa))
      return SP_STEP_CUT;
    *cfa += (uint64_t)(int64_t)rule->cfa_plus;
    return SP_STEP_CALLER;
  case SP_CFA_PLT:
    *cfa = state->registers.r[SP_REGISTER_SP] + 8;
    if ((state->registers.r[SP_REGISTER_PC] & 15) >= (uint64_t)rule->cfa_plus)
      *cfa += 8;
    return SP_STEP_CALLER;
  case SP_CFA_UNSUPPORTED:
    return SP_STEP_UNSUPPORTED;
  default:
    return SP_STEP_NO_INFO;
  }
}

/* Read a saved value. The caller handles SP_SLOT_SAME and SP_SLOT_UNDEFINED. If
 * the result is SP_STEP_CALLER, *out is set. */
static sp_step step_slot(const sp_frame_state *state, uint8_t kind,
                         int32_t offset, uint64_t cfa, uint64_t *out) {
  uint64_t base = cfa;

  if (kind == SP_SLOT_REGISTER)
    return step_register(state, (uint8_t)offset, out) ? SP_STEP_CALLER
                                                      : SP_STEP_UNSUPPORTED;
  if (kind == SP_SLOT_FP && !step_register(state, SP_REGISTER_FP, &base))
    return SP_STEP_UNSUPPORTED;
  if (kind != SP_SLOT_CFA && kind != SP_SLOT_FP)
    return SP_STEP_NO_INFO;
  base += (uint64_t)(int64_t)offset;
  if (step_read(state->slice, base, out))
    return SP_STEP_CALLER;
  return state->all && base < state->registers.r[SP_REGISTER_SP] ? SP_STEP_BELOW
                                                                 : SP_STEP_CUT;
}

/* Read the caller's frame pointer. *known is set to whether it is known. */
static sp_step step_fp(const sp_frame_state *state, const sp_unwind_rule *rule,
                       uint64_t cfa, uint64_t *fp, bool *known) {
  sp_step step;

  *fp = state->registers.r[SP_REGISTER_FP];
  *known = state->fp_known && rule->fp_kind != SP_SLOT_UNDEFINED;
  if (rule->fp_kind == SP_SLOT_SAME || rule->fp_kind == SP_SLOT_UNDEFINED)
    return SP_STEP_CALLER;
  step = step_slot(state, rule->fp_kind, rule->fp_offset, cfa, fp);
  *known = step == SP_STEP_CALLER || step == SP_STEP_BELOW;
  /* GCC describes the register as saved even after an epilogue has popped it.
   * The saved value is then below sp, and the register itself contains the
   * value. */
  return step == SP_STEP_BELOW ? SP_STEP_CALLER : step;
}

static sp_step step_pc(const sp_frame_state *state, const sp_unwind_rule *rule,
                       uint64_t cfa, uint64_t *pc) {
  sp_step step;

#if defined(__aarch64__)
  if (rule->ra_kind == SP_SLOT_SAME)
    return step_register(state, SP_REGISTER_LR, pc) ? SP_STEP_CALLER
                                                    : SP_STEP_NO_INFO;
#endif
  step = step_slot(state, rule->ra_kind, rule->ra_offset, cfa, pc);
  return step == SP_STEP_BELOW ? SP_STEP_CUT : step;
}

static sp_step step_sp(const sp_frame_state *state, const sp_unwind_rule *rule,
                       uint64_t cfa, uint64_t *sp) {
  sp_step step;

  *sp = cfa;
  if (rule->sp_kind == SP_SLOT_SAME)
    return SP_STEP_CALLER;
  step = step_slot(state, rule->sp_kind, rule->sp_offset, cfa, sp);
  return step == SP_STEP_BELOW ? SP_STEP_CUT : step;
}

void sp_frame_state_init(sp_frame_state *state, const sp_stack_slice *slice) {
  state->slice = slice;
  state->registers = slice->registers;
  state->all = true;
  state->fp_known = true;
}

sp_step sp_frame_step(sp_frame_state *state, const sp_unwind_rule *rule) {
  uint64_t *const r = state->registers.r;
  uint64_t cfa = 0, pc = 0, sp = 0, fp = 0;
  bool fp_known = false, pushed;
  sp_step step;

  if (rule->cfa_kind == SP_CFA_SIGNAL)
    return step_signal(state);
  /* Check this first, because the CFA of the outermost frame may be invalid. */
  if (rule->ra_kind == SP_SLOT_UNDEFINED)
    return SP_STEP_COMPLETE;
  step = step_cfa(state, rule, &cfa);
  if (step == SP_STEP_CALLER)
    step = step_pc(state, rule, cfa, &pc);
  if (step == SP_STEP_CALLER)
    step = step_fp(state, rule, cfa, &fp, &fp_known);
  if (step == SP_STEP_CALLER)
    step = step_sp(state, rule, cfa, &sp);
  if (step != SP_STEP_CALLER)
    return step;
  /* A caller's frame is at a higher address. It may be at the same address only
   * if no return address was pushed, and only for the interrupted frame. */
  pushed = rule->sp_kind == SP_SLOT_SAME && STEP_RETURN_BELOW_CFA;
  if (sp < r[SP_REGISTER_SP] ||
      (sp == r[SP_REGISTER_SP] && (pushed || !state->all)))
    return SP_STEP_NO_INFO;
  pc = step_return_address(pc);
  r[SP_REGISTER_SP] = sp;
  r[SP_REGISTER_PC] = pc;
  r[SP_REGISTER_FP] = fp;
  state->fp_known = fp_known;
  state->all = false;
  return pc ? SP_STEP_CALLER : SP_STEP_COMPLETE;
}

#if defined(__x86_64__)

bool sp_frame_rule_guess(const uint8_t *code, size_t size, uint64_t inside,
                         bool exact, sp_unwind_rule *out) {
  /* mov $15,%rax; syscall: the return from a handler in musl and older glibc.
   * Debuggers also recognise the return by these bytes. */
  static const uint8_t restore[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                    0,    0,    0x0f, 0x05};
  static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
  static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5};
  size_t start = 0;

  *out = (sp_unwind_rule){.cfa_kind = SP_CFA_REGISTER,
                          .cfa_register = SP_REGISTER_SP,
                          .cfa_offset = 8,
                          .ra_kind = SP_SLOT_CFA,
                          .ra_offset = -8};
  if (size >= sizeof restore && memcmp(code, restore, sizeof restore) == 0) {
    *out = (sp_unwind_rule){.cfa_kind = SP_CFA_SIGNAL};
    return inside < sizeof restore;
  }
  if (size >= sizeof endbr && memcmp(code, endbr, sizeof endbr) == 0)
    start = sizeof endbr;
  if (size - start < sizeof prologue || inside >= size ||
      memcmp(code + start, prologue, sizeof prologue) != 0)
    return false;
  if (exact && (inside <= start || code[inside] == 0xc3))
    /* Nothing is pushed yet, or the function is about to return. */
    return true;
  out->cfa_offset = 16;
  out->fp_kind = SP_SLOT_CFA;
  out->fp_offset = -16;
  if (inside >= start + sizeof prologue)
    out->cfa_register = SP_REGISTER_FP;
  return exact || inside >= start + sizeof prologue;
}

/* Decode sub $n,%rsp. Returns the length of the instruction, or 0 for any other
 * instruction. */
static size_t step_frame_made(const uint8_t *code, size_t size,
                              uint32_t *bytes) {
  if (size >= 4 && memcmp(code, "\x48\x83\xec", 3) == 0 && code[3] < 0x80) {
    *bytes = code[3];
    return 4;
  }
  if (size >= 7 && memcmp(code, "\x48\x81\xec", 3) == 0) {
    memcpy(bytes, code + 3, sizeof *bytes);
    return 7;
  }
  return 0;
}

/* Matches the prologue of OpenBLAS's kernels: it allocates the frame and saves
 * rbx and rbp at the frame's inner end. Some kernels then copy rsp to rbx and
 * align rsp. */
bool sp_frame_rule_saves(const uint8_t *code, size_t size, uint64_t inside,
                         uint8_t next, sp_unwind_rule *out) {
  /* mov %rbx,(%rsp); mov %rbp,8(%rsp) */
  static const uint8_t saves[] = {0x48, 0x89, 0x1c, 0x24, 0x48,
                                  0x89, 0x6c, 0x24, 0x08};
  static const uint8_t keeps[] = {0x48, 0x89, 0xe3}; /* mov %rsp,%rbx */
  const uint8_t ret = 0xc3;
  uint32_t frame;
  size_t at = step_frame_made(code, size, &frame), i;
  uint32_t more;

  if (at == 0 || frame > INT16_MAX || size - at < sizeof saves ||
      memcmp(code + at, saves, sizeof saves) != 0)
    return false;
  at += sizeof saves;
  *out = (sp_unwind_rule){.cfa_kind = SP_CFA_REGISTER,
                          .cfa_register = SP_REGISTER_SP,
                          .cfa_offset = 8,
                          .ra_kind = SP_SLOT_CFA,
                          .ra_offset = -8};
  if (inside == 0 || next == ret)
    return true; /* The frame is not allocated yet, or already freed. */
  out->cfa_offset = (int32_t)frame + 8;
  if (inside < at)
    return true; /* rbp is not changed yet */
  out->fp_kind = SP_SLOT_CFA;
  out->fp_offset = -(int32_t)frame;
  for (i = at; i + sizeof keeps <= size; i++)
    if (memcmp(code + i, keeps, sizeof keeps) == 0 && inside > i &&
        step_frame_made(code + i + sizeof keeps, size - i - sizeof keeps,
                        &more) > 0)
      out->cfa_register = 3; /* rbx */
  return true;
}

bool sp_frame_code_calls(const uint8_t before[SP_FRAME_CALL_BYTES]) {
  /* All possible lengths of call *m and call *r, the instruction ff /2 (Intel
   * SDM 2A, table 2-2). */
  static const uint8_t lengths[] = {2, 3, 4, 6, 7};
  size_t i;

  if (before[SP_FRAME_CALL_BYTES - 5] == 0xe8) /* call rel32 */
    return true;
  for (i = 0; i < SP_COUNT_OF(lengths); i++) {
    const uint8_t *call = before + SP_FRAME_CALL_BYTES - lengths[i];

    if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
      return true;
  }
  return false;
}

bool sp_frame_code_calls_pointer(const uint8_t before[SP_FRAME_CALL_BYTES]) {
  const uint8_t *end = before + SP_FRAME_CALL_BYTES;

  /* call rel32 and call *rel32(%rip), if the called function or the GOT is less
   * than 128 MiB away. */
  if ((end[-5] == 0xe8 || (end[-6] == 0xff && end[-5] == 0x15)) &&
      ((uint8_t)(end[-1] + 8) < 16))
    return false;
  /* The forms of the instruction ff /2: call *%r, call *(%r), call *disp8(%r)
   * and call *disp32(%r), the last three also with an index register (Intel SDM
   * 2A, tables 2-2 and 2-3). */
  return (end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0) ||
         (end[-2] == 0xff && (end[-1] & 0xf8) == 0x10 && (end[-1] & 6) != 4) ||
         (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50 && end[-2] != 0x54) ||
         (end[-3] == 0xff && end[-2] == 0x14) ||
         (end[-4] == 0xff && end[-3] == 0x54) ||
         (end[-6] == 0xff && (end[-5] & 0xf8) == 0x90 && end[-5] != 0x94) ||
         (end[-7] == 0xff && end[-6] == 0x94);
}

#else

bool sp_frame_rule_guess(const uint8_t *code, size_t size, uint64_t inside,
                         bool exact, sp_unwind_rule *out) {
  /* mov x8,#139; svc #0: musl's return from a handler. */
  static const uint32_t restore[] = {0xd2801168, 0xd4000001};
  uint32_t words[2];
  int32_t frame;

  *out = (sp_unwind_rule){.cfa_kind = SP_CFA_REGISTER,
                          .cfa_register = SP_REGISTER_SP};
  if (size < sizeof words)
    return false;
  memcpy(words, code, sizeof words);
  if (memcmp(words, restore, sizeof restore) == 0) {
    *out = (sp_unwind_rule){.cfa_kind = SP_CFA_SIGNAL};
    return inside < sizeof restore;
  }
  /* stp x29,x30,[sp,#-frame]!; mov x29,sp: after these instructions, and until
   * the epilogue, which ends with a return, x29 points to both saved
   * registers. */
  if ((words[0] & 0xffc07fff) != 0xa9807bfd || words[1] != 0x910003fd)
    return false;
  if (exact)
    /* Nothing is stored yet. Later states cannot be determined with
     * certainty. */
    return inside == 0;
  frame = -((int32_t)(words[0] << 10) >> 25) * 8;
  out->cfa_register = SP_REGISTER_FP;
  out->cfa_offset = frame;
  out->fp_kind = SP_SLOT_CFA;
  out->fp_offset = -frame;
  out->ra_kind = SP_SLOT_CFA;
  out->ra_offset = 8 - frame;
  return inside >= sizeof words;
}

bool sp_frame_rule_saves(const uint8_t *code, size_t size, uint64_t inside,
                         uint8_t next, sp_unwind_rule *out) {
  (void)code, (void)size, (void)inside, (void)next, (void)out;
  return false;
}

bool sp_frame_code_calls(const uint8_t before[SP_FRAME_CALL_BYTES]) {
  uint32_t word;

  memcpy(&word, before + SP_FRAME_CALL_BYTES - sizeof word, sizeof word);
  /* bl; blr (Arm ARM DDI 0487J, C6.2.34, C6.2.36). */
  return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
}

bool sp_frame_code_calls_pointer(const uint8_t before[SP_FRAME_CALL_BYTES]) {
  uint32_t word;

  memcpy(&word, before + SP_FRAME_CALL_BYTES - sizeof word, sizeof word);
  /* blr (Arm ARM DDI 0487J, C6.2.36). */
  return (word & 0xfffffc1f) == 0xd63f0000;
}

#endif
