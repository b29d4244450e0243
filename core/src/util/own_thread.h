/* Threads of ours: named, with every signal blocked, known by number so that
 * the sampler leaves them out. */
#ifndef SP_OWN_THREAD_H
#define SP_OWN_THREAD_H

#include <pthread.h>

#include "base.h"

/* Small is for our code alone; code of the application counts on the default,
 * of which only the pages that it touches cost memory. */
typedef enum sp_own_stack {
  SP_OWN_STACK_SMALL,
  SP_OWN_STACK_DEFAULT
} sp_own_stack;

/* Start `run(argument)` on a joinable thread called `name` (at most 15 bytes).
 * Returns an errno. */
int sp_own_thread_start(pthread_t *out, const char *name, sp_own_stack stack,
                        void *(*run)(void *argument), void *argument);

/* Is `tid` a thread of ours, and running? */
bool sp_own_thread_is(int tid);

/* In place of pthread_join(): nobody waits for it. It is joined once it has
 * ended. */
void sp_own_thread_leave(pthread_t thread);

/* Join the threads that were left. False: some did not end within `wait_ns`. */
bool sp_own_threads_left_join(uint64_t wait_ns);

/* Exit handlers run: sp_exit_begun() is true from now on. Threads that are
 * joined still work to their end. */
void sp_exit_begin(void);
bool sp_exit_begun(void);

/* The last step of our exit handler, after every other thread was joined: join
 * those that were left and end soon, and have the rest stop for ever at their
 * next sp_own_thread_gate(). Takes 0.1 s at most where one was left. */
void sp_own_threads_exit(void);

/* On a thread of ours, with nothing held that exit handlers may wait for,
 * before it frees something or ends: returns unless the process has gone on
 * without this thread. */
void sp_own_thread_gate(void);

/* How many there are. */
size_t sp_own_thread_count(void);

/* Is every other thread of this process one of ours, also one that starts or
 * ends just now? One whose threads cannot be listed is taken for one that has
 * others. */
bool sp_own_threads_only(void);

/* In a forked child: none is left. */
void sp_own_thread_after_fork(void);

#endif
