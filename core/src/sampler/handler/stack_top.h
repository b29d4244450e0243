/* Finds the outer end of a thread's frames. Above the frames, glibc stores at
 * least 5 KB that samples do not need: the thread's control block, the static
 * TLS and its reserve. On the main thread's stack it is the environment. */
#ifndef SP_STACK_TOP_H
#define SP_STACK_TOP_H

#include "util/base.h"

/* Stacks grow to 8 MiB by default. An address further from a stack's outer end
 * does not count as part of the stack. */
#define SP_STACK_BYTES_MAX (UINT64_C(64) << 20)

/* Measure the size of that data on the calling thread, which must be a thread
 * of ours (few frames deep). Before this call, all memory up to the stack's end
 * counts as frames. */
void sp_stack_top_measure(void);

/* The outer end of the frames on the stack that the thread was created with,
 * computed from its thread pointer. */
SP_HANDLER_CODE uint64_t sp_stack_top_below(uint64_t thread_pointer);

/* The outer end of the frames on the stack [low, high) of the thread with this
 * thread pointer. */
uint64_t sp_stack_top(uint64_t thread_pointer, uint64_t low, uint64_t high);

#endif
