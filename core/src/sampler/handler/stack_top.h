/* Finds the outer end of a thread's frames. Beyond the frames, glibc stores at
 * least 5 KB that samples do not need: the thread's control block, the static
 * TLS and its reserve. On the main thread's stack, the environment follows the
 * frames. */
#ifndef SP_STACK_TOP_H
#define SP_STACK_TOP_H

#include "util/base.h"

/* Maximum size of a stack. Stacks grow to 8 MiB by default. An address that is
 * farther from a stack's outer end does not belong to the stack. */
#define SP_STACK_BYTES_MAX (UINT64_C(64) << 20)

/* Measure the size of the data between a thread's frames and its thread
 * pointer, on the calling thread, which must be a thread of the library with
 * few frames. Before this call, all memory up to the thread pointer counts as
 * frames. */
void sp_stack_top_measure(void);

/* The outer end of the frames on the stack that the thread was created with,
 * computed from its thread pointer. */
SP_HANDLER_CODE uint64_t sp_stack_top_below(uint64_t thread_pointer);

/* The outer end of the frames on the stack [low, high) of the thread with this
 * thread pointer. */
uint64_t sp_stack_top(uint64_t thread_pointer, uint64_t low, uint64_t high);

#endif
