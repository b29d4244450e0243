/* Where the frames of a thread's stack begin. Above them glibc keeps what a
 * sample has no use for, 5 KB and more: the thread's control block, the static
 * TLS and its reserve; on the main thread's stack the environment stands
 * there. */
#ifndef SP_STACK_TOP_H
#define SP_STACK_TOP_H

#include "util/base.h"

/* Stacks grow to 8 MiB by default; what lies further from a stack's outer end
 * is taken for none of it. */
#define SP_STACK_BYTES_MAX (UINT64_C(64) << 20)

/* Learn how much that is, by the calling thread, which must be one of ours
 * (few frames deep). Until then nothing is known to be of no use. */
void sp_stack_top_learn(void);

/* The same end of the stack that a thread was made with, by its thread pointer
 * alone. */
SP_HANDLER_CODE uint64_t sp_stack_top_below(uint64_t thread_pointer);

/* The end of the part of [low, high), the stack of the thread with that thread
 * pointer, that may hold frames. */
uint64_t sp_stack_top(uint64_t thread_pointer, uint64_t low, uint64_t high);

#endif
