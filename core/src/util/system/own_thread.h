/* The library's own threads. Each has a name, blocks every signal, and is
 * registered by its thread id so that the sampler excludes it. */
#ifndef SP_OWN_THREAD_H
#define SP_OWN_THREAD_H

#include <pthread.h>

#include "util/base.h"

/* The size of a thread's stack. Small stacks are for threads that run only
 * spanprof's code. Application code expects the default size, of which only
 * touched pages use memory. */
typedef enum sp_own_stack {
  SP_OWN_STACK_SMALL,
  SP_OWN_STACK_DEFAULT
} sp_own_stack;

/* Start `run(argument)` on a joinable thread named `name` (at most 15 bytes).
 * Returns 0 or an errno. */
int sp_own_thread_start(pthread_t *out, const char *name, sp_own_stack stack,
                        void *(*run)(void *argument), void *argument);

/* Is `tid` a running thread of the library? */
bool sp_own_thread_is(int tid);

/* Replaces pthread_join() if the caller must not wait. The thread is joined
 * after it has ended, at the next call of a function of this file that joins
 * such threads. */
void sp_own_thread_defer_join(pthread_t thread);

/* Join the threads passed to sp_own_thread_defer_join(). Returns false if some
 * did not end within `wait_ns`. */
bool sp_own_threads_join_deferred(uint64_t wait_ns);

/* Record that exit handlers run: from now on sp_exit_begun() is true. Threads
 * of the library still finish their work, because exit handlers join them. */
void sp_exit_begin(void);
bool sp_exit_begun(void);

/* The last step of the library's exit handler, after all other threads of the
 * library were joined. Joins the threads passed to sp_own_thread_defer_join()
 * that end soon; the others block forever at their next sp_own_thread_gate().
 * Takes at most 0.1 s if there is such a thread. */
void sp_own_threads_exit(void);

/* A thread of the library calls this before it frees memory or ends. It does
 * not return if sp_own_threads_exit() has given up waiting for the thread, so
 * the caller must not hold a lock that exit handlers may need. */
void sp_own_thread_gate(void);

/* The number of running threads of the library. */
size_t sp_own_thread_count(void);

/* Is every other thread of this process one of the library's, even if threads
 * start or end during the call? Returns false if this cannot be determined
 * within a second. */
bool sp_own_threads_only(void);

/* Called in a forked child: forget all threads. */
void sp_own_thread_after_fork(void);

#endif
