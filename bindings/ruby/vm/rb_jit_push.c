#include "rb_jit_push.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "rb_vm_layout.h"

#if RB_SP_VM_YJIT_MOVES_FIRST

/* Maximum number of bytes from the instruction that moves ec->cfp to the end of
 * the store that completes the frame. It is 40 for a frame of Ruby code and 39
 * for a frame of a C function. */
#define PUSH_BYTES_MAX 48

typedef struct push_instruction {
  unsigned char bytes[6];
  unsigned char size;
  /* true: the instruction moves the frame pointer, so a frame begins. false: it
   * is the last store that the walk needs, so the frame is complete after it.
   */
  bool begins;
  /* The frame belongs to a C function; r13 still points to the caller's frame.
   */
  bool native;
} push_instruction;

/* Machine code that gen_send_iseq() and gen_send_cfunc() in yjit_codegen.c of
 * Ruby 3.1.2 emit. The last store into the frame is that of the iseq in the
 * first function and that of the environment pointer in the second. */
SP_HANDLER_DATA static push_instruction push_instructions[] = {
    /* sub r13, 0x40 */
    {{0x49, 0x83, 0xed, 0x40}, 4, true, false},
    /* mov [r13+0x10], rax: iseq */
    {{0x49, 0x89, 0x45, 0x10}, 4, false, false},
    /* sub qword [r12+0x10], 0x40: ec->cfp */
    {{0x49, 0x83, 0x6c, 0x24, 0x10, 0x40}, 6, true, true},
    /* mov [rcx+0x20], rax: ep */
    {{0x48, 0x89, 0x41, 0x20}, 4, false, true},
};

/* The range of YJIT's code. The signal handler reads it. */
SP_HANDLER_DATA static _Atomic uint64_t push_start, push_end;

void rb_sp_jit_push_watch(const spanprof_range *range) {
  atomic_store(&push_start, range->start);
  atomic_store(&push_end, range->end);
}

/* Returns the first of push_instructions that occurs in `code`, or NULL. */
SP_HANDLER_CODE static const push_instruction *
push_next(const unsigned char *code) {
  size_t at, i;
  unsigned byte;

  for (at = 0; at < PUSH_BYTES_MAX; at++)
    for (i = 0; i < SP_COUNT_OF(push_instructions); i++) {
      const push_instruction *one = &push_instructions[i];

      for (byte = 0; byte < one->size; byte++)
        if (code[at + byte] != one->bytes[byte])
          break;
      if (byte == one->size)
        return one;
    }
  return NULL;
}

SP_HANDLER_CODE bool rb_sp_jit_push_pending(const spanprof_capture *capture,
                                            const void *frame) {
  const ucontext_t *context = capture->ucontext;
  uint64_t caller = (uint64_t)context->uc_mcontext.gregs[REG_R13];
  const push_instruction *next;

  if (capture->pc < atomic_load(&push_start) ||
      capture->pc + PUSH_BYTES_MAX + sizeof next->bytes >
          atomic_load(&push_end))
    return false;
  next = push_next((const unsigned char *)(uintptr_t)capture->pc);
  if (!next || next->begins)
    return false;
  return caller - (next->native ? RB_SP_VM_YJIT_FRAME_BYTES : 0) ==
         (uint64_t)(uintptr_t)frame;
}

#else

void rb_sp_jit_push_watch(const spanprof_range *range) {
  (void)range;
}

SP_HANDLER_CODE bool rb_sp_jit_push_pending(const spanprof_capture *capture,
                                            const void *frame) {
  (void)capture;
  (void)frame;
  return false;
}

#endif
