#include "stack_top.h"

#include <sys/auxv.h>

/* More than the frames from the thread's outermost to the one that learns (some
 * 530 bytes with glibc 2.36), and of wrappers that only some threads have. */
#define STACK_TOP_SLACK 768

/* Process-wide, as the size of the static TLS is: glibc fixes it, with the
 * reserve for modules loaded later, when the process starts (glibc 2.36,
 * nptl/allocatestack.c). */
SP_HANDLER_DATA static _Atomic uint64_t stack_top_kept;

void sp_stack_top_learn(void) {
#if defined(__GLIBC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* Elsewhere the order in memory is another, and sanitizers put frames of
   * theirs around a thread's. */
  uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  uint64_t tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();

  if (tp > here + STACK_TOP_SLACK)
    atomic_store(&stack_top_kept, tp - here - STACK_TOP_SLACK);
#endif
}

uint64_t sp_stack_top_below(uint64_t thread_pointer) {
  return thread_pointer -
         atomic_load_explicit(&stack_top_kept, memory_order_relaxed);
}

uint64_t sp_stack_top(uint64_t thread_pointer, uint64_t low, uint64_t high) {
  /* The 16 bytes stand above the auxiliary vector, below the strings (Linux
   * 6.1, fs/binfmt_elf.c, create_elf_tables()). */
  uint64_t main_top = getauxval(AT_RANDOM) & ~UINT64_C(7);
  uint64_t top = sp_stack_top_below(thread_pointer);

  if (thread_pointer > low && thread_pointer < high)
    return top > low ? top : high;
  if (main_top > low && main_top < high)
    return main_top;
  return high;
}
