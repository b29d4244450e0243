/* Where the VM keeps what the walker reads. The offsets are those of vm_core.h,
 * method.h and internal/imemo.h of Ruby 3.1, 3.3 and 3.4; they
 * have two variants in the thread and two in the control frame. A self-test
 * compares them with the running VM before anything is walked. */
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

/* See rb_jit_push.h; it compiles for x86-64 alone. */
#if RUBY_API_VERSION_MAJOR == 3 && RUBY_API_VERSION_MINOR == 1 && \
    defined(__x86_64__)
#define RB_SP_VM_YJIT_MOVES_FIRST 1
#define RB_SP_VM_YJIT_FRAME_BYTES 64 /* rb_control_frame_t */
#else
#define RB_SP_VM_YJIT_MOVES_FIRST 0
#endif

/* Words of rb_execution_context_t. */
enum { RB_SP_EC_STACK = 0, RB_SP_EC_STACK_WORDS = 1, RB_SP_EC_FRAME = 2 };

/* Words of rb_control_frame_t. */
enum { RB_SP_FRAME_PC = 0, RB_SP_FRAME_ISEQ = 2, RB_SP_FRAME_EP = 4 };

/* Words below the environment pointer: what stands there is the method entry,
 * the class reference or the special variables; the block or the enclosing
 * environment; the flags. */
enum { RB_SP_EP_METHOD = -2, RB_SP_EP_PREVIOUS = -1, RB_SP_EP_FLAGS = 0 };

/* Flags of a frame and its environment. The lowest bit makes them a Fixnum: a
 * word without it is an environment that moved to the heap. */
#define RB_SP_FLAGS_FIXNUM      0x1u
#define RB_SP_FLAGS_LOCAL       0x2u
#define RB_SP_FLAGS_ESCAPED     0x4u
#define RB_SP_FLAGS_FINISH      0x20u
#define RB_SP_FLAGS_CFRAME      0x80u
#define RB_SP_FLAGS_MAGIC       0x7fff0001u
#define RB_SP_FLAGS_MAGIC_CFUNC 0x55550001u
#define RB_SP_FLAGS_MAGIC_DUMMY 0x79990001u

/* Is that a frame's flags word? The known magics are 0x1111, 0x2222 … 0x7777,
 * 0x7888 and 0x7999. */
SP_SIGNAL_SAFE static inline bool rb_sp_flags_valid(VALUE flags) {
  uint32_t magic = (uint32_t)flags & RB_SP_FLAGS_MAGIC;
  uint32_t kind = magic >> 16;

  return (flags & RB_SP_FLAGS_FIXNUM) && flags >> 32 == 0 &&
         ((kind % 0x1111 == 0 && kind != 0) || kind == 0x7888 ||
          kind == 0x7999);
}

/* Bits of an address that a program has without asking for more (Linux:
 * Documentation/arch/arm64/memory.rst, arch/x86/x86_64/mm.rst). */
#if defined(__aarch64__)
#define RB_SP_ADDRESS_BITS 48
#else
#define RB_SP_ADDRESS_BITS 47
#endif

/* Can this word be an object on Ruby's heap? */
SP_SIGNAL_SAFE static inline bool rb_sp_object_possible(VALUE word) {
  return word > 4096 && (word & 7) == 0 && word >> RB_SP_ADDRESS_BITS == 0;
}

/* Kinds of the VM's own objects (enum imemo_type). */
enum { RB_SP_IMEMO_SVAR = 2, RB_SP_IMEMO_METHOD = 6, RB_SP_IMEMO_ISEQ = 7 };

/* Is `object`, which must be mapped, one of the VM's own, of that kind? */
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

/* Exported by every supported Ruby, declared in none of its headers.
 * ruby_thread_has_gvl_p() reads a word or two, of which one is thread-local to
 * libruby and was allocated when the thread became a Ruby thread. */
extern int ruby_thread_has_gvl_p(void);
extern unsigned int rb_iseq_line_no(VALUE iseq, size_t position);

/* May Ruby threads change their native threads: RUBY_MN_THREADS, from 3.3 on?
 */
bool rb_sp_vm_threads_move(void);

/* Does a native thread free its alternate signal stack before it ends, and
 * leave it registered (thread_pthread.c, native_thread_destroy(), from 3.2 on)?
 * Before, it stays for the next Ruby thread on that native thread. */
bool rb_sp_vm_frees_signal_stack(void);

/* The one function that Ruby calls for this binding on a Ruby thread of the
 * main Ractor, with the GVL, between two steps of Ruby code. Call this once,
 * when the extension loads. */
void rb_sp_vm_job_init(void (*run)(void *data));

/* Request one call of the function above, with NULL. Any thread may call this;
 * it does not wait. */
void rb_sp_vm_job_trigger(void);

/* The versions whose layout is known, each tested. */
#define RB_SP_VM_VERSIONS "3.1, 3.3 and 3.4"

/* The layout of the running Ruby, or NULL where none is known. */
const rb_sp_vm_layout *rb_sp_vm_layout_find(int major, int minor);

#endif
