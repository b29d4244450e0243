/* Delivers the profiles at a SIGTERM that has its default action. The signal
 * then ends the process, as it would have ended it without spanprof.
 *
 * Protocol: spanprof's handler of SIGTERM sets a flag and wakes a thread that
 * only waits for this flag. The thread calls `deliver`, restores the signal's
 * default action, and sends SIGTERM again. The thread exists before the handler
 * is installed, and until the handler is removed. If the handler runs without
 * the thread (in a child that was made without fork hooks, or in a program that
 * restores a saved handler after the session), it performs the default action.
 * If another handler has replaced spanprof's handler, that handler stays. A
 * fork happens with SIGTERM blocked, so that a SIGTERM to the child waits until
 * the child has its thread. */
#ifndef SP_SIGTERM_H
#define SP_SIGTERM_H

#include "util/base.h"

/* Deliver the profiles within 2 s. Returns false if the process continues
 * because the signal does not end it. */
typedef bool (*sp_sigterm_fn)(void);

/* Enable the delivery until sp_sigterm_end(), and call sp_sigterm_arm(). */
void sp_sigterm_begin(sp_sigterm_fn deliver);

/* Remove the handler and end the thread. Does not wait for the end of the
 * thread, because `deliver` may call this function on it. */
void sp_sigterm_end(void);

/* If the delivery is enabled and SIGTERM has its default action, install
 * spanprof's handler. Returns whether spanprof's handler is installed. Any
 * thread may call this function. */
bool sp_sigterm_arm(void);

/* Install spanprof's handler in place of the present handler, which spanprof's
 * handler then calls (it "wraps" it). This is for a language that runs its
 * handlers on its main thread. Any thread may call this function. */
void sp_sigterm_wrap_handler(void);

/* Did a signal cause this run of the wrapped handler? The wrapped handler calls
 * this function once in each run, because some runs have no signal (Python's
 * _thread.interrupt_main()). Returns true if spanprof's handler wraps no
 * handler. */
bool sp_sigterm_was_forwarded(void);

/* Deliver the profiles as the waiting thread does. Called by the wrapped
 * handler. */
bool sp_sigterm_deliver(void);

/* Called before and after a fork, with the session's locks held. */
void sp_sigterm_before_fork(void);
void sp_sigterm_after_fork_parent(void);
void sp_sigterm_after_fork_child(void);

#endif
