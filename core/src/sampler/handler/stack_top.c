#include "stack_top.h"

#include <sys/auxv.h>

/* An upper bound of the size of the frames between the thread's outermost frame
 * and the function that measures (some 530 bytes with glibc 2.36), and of the
 * frames of wrappers that only some threads have. */
#define STACK_TOP_SLACK 768

/* Process-wide, because the size of the static TLS is process-wide: glibc fixes
 * it when the process starts, including the reserve for modules that are loaded
 * later (glibc 2.36, nptl/allocatestack.c). */
SP_HANDLER_DATA static _Atomic uint64_t stack_top_bytes;

void sp_stack_top_measure(void) {
#if defined(__GLIBC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* Only for this platform, because others have another memory layout, and
   * sanitizers add frames outside those of the thread's function. */
  uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  uint64_t tp = (uint64_t)(uintptr_t)__builtin_thread_pointer();

  if (tp > here + STACK_TOP_SLACK)
    atomic_store(&stack_top_bytes, tp - here - STACK_TOP_SLACK);
#endif
}

uint64_t sp_stack_top_below(uint64_t thread_pointer) {
  return thread_pointer -
         atomic_load_explicit(&stack_top_bytes, memory_order_relaxed);
}

uint64_t sp_stack_top(uint64_t thread_pointer, uint64_t low, uint64_t high) {
  /* The 16 random bytes of AT_RANDOM are above the auxiliary vector and below
   * the strings of arguments and environment (Linux 6.1, fs/binfmt_elf.c,
   * create_elf_tables()). */
  uint64_t main_top = getauxval(AT_RANDOM) & ~UINT64_C(7);
  uint64_t top = sp_stack_top_below(thread_pointer);

  if (thread_pointer > low && thread_pointer < high)
    return top > low ? top : high;
  if (main_top > low && main_top < high)
    return main_top;
  return high;
}
