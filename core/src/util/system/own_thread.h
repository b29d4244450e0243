/* The library's own threads. They have a name, block every signal, and are
 * registered by thread id so that the sampler excludes them. */
#ifndef SP_OWN_THREAD_H
#define SP_OWN_THREAD_H

#include <pthread.h>

#include "util/base.h"

/* Small stacks are for threads that run only code of ours. Application code
 * expects the default size, of which only touched pages use memory. */
typedef enum sp_own_stack {
  SP_OWN_STACK_SMALL,
  SP_OWN_STACK_DEFAULT
} sp_own_stack;

/* Start `run(argument)` on a joinable thread named `name` (at most 15 bytes).
 * Returns an errno. */
int sp_own_thread_start(pthread_t *out, const char *name, sp_own_stack stack,
                        void *(*run)(void *argument), void *argument);

/* Is `tid` a running thread of ours? */
bool sp_own_thread_is(int tid);

/* Replaces pthread_join() if the caller must not wait. A later call joins the
 * thread once it has ended. */
void sp_own_thread_defer_join(pthread_t thread);

/* Join the threads passed to sp_own_thread_defer_join(). Returns false if some
 * did not end within `wait_ns`. */
bool sp_own_threads_join_deferred(uint64_t wait_ns);

/* Record that exit handlers run: from now on sp_exit_begun() is true. Threads
 * that will be joined still finish their work. */
void sp_exit_begin(void);
bool sp_exit_begun(void);

/* The last step of our exit handler, after all other threads were joined. Joins
 * the threads passed to sp_own_thread_defer_join() that end soon; the others
 * block forever at their next sp_own_thread_gate(). Takes at most 0.1 s if
 * there is such a thread. */
void sp_own_threads_exit(void);

/* Called on a thread of ours before it frees memory or ends. The caller holds
 * no lock that exit handlers may need. Does not return once
 * sp_own_threads_exit() has given up waiting for this thread. */
void sp_own_thread_gate(void);

/* The number of running threads of ours. */
size_t sp_own_thread_count(void);

/* Is every other thread of this process one of ours, including threads that
 * start or end during the call? Returns false if this cannot be determined
 * within a second. */
bool sp_own_threads_only(void);

/* In a forked child: forget all threads. */
void sp_own_thread_after_fork(void);

#endif
