/* Delivers the profiles at a SIGTERM that has its default action. The signal
 * then ends the process, as it would have without us.
 *
 * Protocol: the handler sets a flag and wakes a thread that only waits for
 * this. The thread calls `deliver`, restores the signal's default action, and
 * sends the signal again. The thread exists before the handler is installed,
 * and until it is removed. If the handler runs without the thread (in a child
 * made without fork hooks, or in a program that restores a saved handler after
 * the session), it performs the default action. A handler that is installed
 * over ours is not changed, and ours is removed only while it is installed. A
 * fork happens with the signal blocked, so that a signal to the child waits for
 * the child's thread. */
#ifndef SP_SIGTERM_H
#define SP_SIGTERM_H

#include "util/base.h"

/* Deliver the profiles within 2 s. Returns false if the process continues
 * because the signal does not end it. */
typedef bool (*sp_sigterm_fn)(void);

/* Enable the delivery until sp_sigterm_end(), and install the handler as
 * sp_sigterm_arm() does. */
void sp_sigterm_begin(sp_sigterm_fn deliver);

/* Remove the handler and end the thread. Does not wait for the thread, because
 * `deliver` may call this function. */
void sp_sigterm_end(void);

/* If the delivery is enabled and the signal has its default action, install our
 * handler. Returns whether our handler is installed. Any thread. */
bool sp_sigterm_arm(void);

/* Install our handler over the present one, and have ours call it. This is for
 * a language that runs its own handler on its main thread. Any thread. */
void sp_sigterm_wrap_handler(void);

/* Called by the wrapped handler, once per run: did a signal cause this run?
 * Some runs have no signal (Python's _thread.interrupt_main()). Returns true if
 * our handler does not wrap the handler. */
bool sp_sigterm_was_forwarded(void);

/* Deliver the profiles as the thread does. Called by the wrapped handler. */
bool sp_sigterm_deliver(void);

/* Around a fork, with the session's locks held. */
void sp_sigterm_before_fork(void);
void sp_sigterm_after_fork_parent(void);
void sp_sigterm_after_fork_child(void);

#endif
