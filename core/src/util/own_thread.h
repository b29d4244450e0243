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

/* How many there are. */
size_t sp_own_thread_count(void);

/* Is every other thread of this process one of ours, also one that starts or
 * ends just now? One whose threads cannot be listed is taken for one that has
 * others. */
bool sp_own_threads_only(void);

/* In a forked child: none is left. */
void sp_own_thread_after_fork(void);

#endif
