/* Memory layout of the VM as the walker needs it. The offsets are those of
 * vm_core.h, method.h and internal/imemo.h of Ruby 3.1 to 3.4. The
 * structures of the thread and of the control frame have two variants each. A
 * self-test compares the layout with the running VM before the first walk. All
 * differences between versions of Ruby are in this file and rb_vm_layout.c. */
#ifndef RB_VM_LAYOUT_H
#define RB_VM_LAYOUT_H

#include <ruby.h>
#include <ruby/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/base.h"

typedef struct rb_sp_vm_layout {
  size_t thread_ec_bytes;     /* rb_thread_t.ec */
  size_t control_frame_words; /* size of rb_control_frame_t */
} rb_sp_vm_layout;

/* YJIT of Ruby 3.1 moves ec->cfp before it writes a frame: see rb_jit_push.h.
 * It supports only x86-64. */
#if RUBY_API_VERSION_MAJOR == 3 && RUBY_API_VERSION_MINOR == 1 && \
    defined(__x86_64__)
#define RB_SP_VM_YJIT_MOVES_FIRST 1
#define RB_SP_VM_YJIT_FRAME_BYTES 64 /* size of rb_control_frame_t */
#else
#define RB_SP_VM_YJIT_MOVES_FIRST 0
#endif

/* Positions of words in rb_execution_context_t. */
enum { RB_SP_EC_STACK = 0, RB_SP_EC_STACK_WORDS = 1, RB_SP_EC_FRAME = 2 };

/* Positions of words in rb_control_frame_t. */
enum { RB_SP_FRAME_PC = 0, RB_SP_FRAME_ISEQ = 2, RB_SP_FRAME_EP = 4 };

/* Positions of words relative to the environment pointer. RB_SP_EP_METHOD: the
 * method entry, the class reference or the special variables.
 * RB_SP_EP_PREVIOUS: the block or the enclosing environment. RB_SP_EP_FLAGS:
 * the flags. */
enum { RB_SP_EP_METHOD = -2, RB_SP_EP_PREVIOUS = -1, RB_SP_EP_FLAGS = 0 };

/* Flags of a frame and its environment. The lowest bit makes the word a Fixnum;
 * a word without it is the address of an environment that moved to the heap. */
#define RB_SP_FLAGS_FIXNUM      0x1u
#define RB_SP_FLAGS_LOCAL       0x2u
#define RB_SP_FLAGS_ESCAPED     0x4u
#define RB_SP_FLAGS_FINISH      0x20u
#define RB_SP_FLAGS_CFRAME      0x80u
#define RB_SP_FLAGS_MAGIC       0x7fff0001u
#define RB_SP_FLAGS_MAGIC_CFUNC 0x55550001u
#define RB_SP_FLAGS_MAGIC_DUMMY 0x79990001u

/* Returns whether a word is the flags word of a frame. The known magics are
 * 0x1111, 0x2222 … 0x7777, 0x7888 and 0x7999. */
SP_SIGNAL_SAFE static inline bool rb_sp_flags_valid(VALUE flags) {
  uint32_t magic = (uint32_t)flags & RB_SP_FLAGS_MAGIC;
  uint32_t kind = magic >> 16;

  return (flags & RB_SP_FLAGS_FIXNUM) && flags >> 32 == 0 &&
         ((kind % 0x1111 == 0 && kind != 0) || kind == 0x7888 ||
          kind == 0x7999);
}

/* Number of bits of the addresses that a program gets from the kernel by
 * default (Linux: Documentation/arch/arm64/memory.rst, arch/x86/x86_64/mm.rst).
 */
#if defined(__aarch64__)
#define RB_SP_ADDRESS_BITS 48
#else
#define RB_SP_ADDRESS_BITS 47
#endif

/* Returns whether a word may be the address of an object on Ruby's heap. */
SP_SIGNAL_SAFE static inline bool rb_sp_object_possible(VALUE word) {
  return word > 4096 && (word & 7) == 0 && word >> RB_SP_ADDRESS_BITS == 0;
}

/* Kinds of the VM's internal objects (enum imemo_type). */
enum { RB_SP_IMEMO_SVAR = 2, RB_SP_IMEMO_METHOD = 6, RB_SP_IMEMO_ISEQ = 7 };

/* Returns whether `object`, which must be mapped, is an internal object of this
 * kind. */
SP_SIGNAL_SAFE static inline bool rb_sp_imemo_is(VALUE object, unsigned kind) {
  VALUE flags = ((const struct RBasic *)object)->flags;

  return (flags & RUBY_T_MASK) == RUBY_T_IMEMO &&
         (flags >> RUBY_FL_USHIFT & 0xf) == kind;
}

/* The instructions of a live iseq (rb_iseq_t.body->iseq_encoded) and their
 * number. */
typedef struct rb_sp_instructions {
  const VALUE *first;
  unsigned count;
} rb_sp_instructions;

rb_sp_instructions rb_sp_iseq_instructions(VALUE iseq);

/* All supported versions of Ruby export these functions, but no header declares
 * them. ruby_thread_has_gvl_p() reads one or two words; one of them is a
 * thread-local variable of libruby whose memory was allocated when the thread
 * became a Ruby thread. */
extern int ruby_thread_has_gvl_p(void);
extern unsigned int rb_iseq_line_no(VALUE iseq, size_t position);

/* Returns whether Ruby threads may move between native threads: the environment
 * variable RUBY_MN_THREADS allows this since Ruby 3.3. */
bool rb_sp_vm_threads_move(void);

/* Returns whether this version of Ruby frees the alternate signal stack of a
 * native thread before the thread ends, but leaves the stack registered (since
 * 3.2: thread_pthread.c, native_thread_destroy()). Earlier versions keep the
 * stack for the next Ruby thread on that native thread. */
bool rb_sp_vm_frees_signal_stack(void);

/* Set the function that Ruby calls for this binding on a Ruby thread of the
 * main Ractor, with the GVL, between two instructions of Ruby code. Called
 * once, when the extension loads. */
void rb_sp_vm_job_init(void (*run)(void *data));

/* Request one call of the function that rb_sp_vm_job_init() has set; its
 * argument is NULL. Any thread may call this. Does not wait. */
void rb_sp_vm_job_trigger(void);

/* The versions of Ruby whose layout is known. All are tested. */
#define RB_SP_VM_VERSIONS "3.1, 3.2, 3.3 and 3.4"

/* Returns the layout of a version of Ruby, or NULL if it is unknown. */
const rb_sp_vm_layout *rb_sp_vm_layout_find(int major, int minor);

#endif
