/* SIGTERM where it has its default action: what there is is handed on first,
 * then the process ends by the signal, as it would have.
 *
 * Protocol: the handler notes that it came and wakes a thread that waits for
 * nothing else; that one calls `deliver`, gives the signal its default action
 * back and sends it again. The thread is there before the handler is, and goes
 * after it. Whoever meets the handler where no thread waits (a child made
 * without fork hooks, a program that restores what it found after the session)
 * has the default action at once. A handler that someone installs over ours is
 * left alone, and ours is taken back only while it is there. A fork is made
 * with the signal blocked: what meets the child before its thread waits. */
#ifndef SP_SIGTERM_H
#define SP_SIGTERM_H

#include "util/base.h"

/* Hand on what there is, within 2 s. False: the process goes on, as the signal
 * does not end it. */
typedef bool (*sp_sigterm_fn)(void);

/* From now on, until sp_sigterm_end(): wanted. Installs the handler as
 * sp_sigterm_arm() does. */
void sp_sigterm_begin(sp_sigterm_fn deliver);

/* Take the handler back and let the thread go. Does not wait for it: `deliver`
 * may be what calls this. */
void sp_sigterm_end(void);

/* Is it wanted, and ours the handler that is installed? It is made so where
 * the signal has its default action. Any thread. */
bool sp_sigterm_arm(void);

/* Put ours over the handler that is installed now, and have it called from
 * ours: for a language, whose own handler does the same on its main thread. Any
 * thread. */
void sp_sigterm_wrap_handler(void);

/* Asked once by such a handler of a language: was it called for a signal? Some
 * call it for none (_thread.interrupt_main() of Python). Where ours does not
 * cover it, it was. */
bool sp_sigterm_was_forwarded(void);

/* What the thread does first, for such a handler of a language. */
bool sp_sigterm_deliver(void);

/* Fork, with the session's lock held. */
void sp_sigterm_before_fork(void);
void sp_sigterm_after_fork_parent(void);
void sp_sigterm_after_fork_child(void);

#endif
