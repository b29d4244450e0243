/* The sampling signal: its number, its handler, and coexistence with other
 * users of the signal.
 *
 * Protocol: the handler is installed once and stays for the life of the
 * process, because a late signal must never trigger the default action, which
 * ends the process. Without a session the handler does nothing. A signal
 * belongs to spanprof if a timer sent it and its value contains this process's
 * cookie. All other signals are passed to the handler that was installed
 * before. If other code later replaces spanprof's handler, this is detected and
 * counted, and the other handler stays. */
#ifndef SP_SIGNAL_H
#define SP_SIGNAL_H

#include <signal.h>

#include "util/base.h"

/* The index that the timer of sp_timer_probe() uses. */
#define SP_SIGNAL_PROBE 0u

/* Handles one of spanprof's signals. `number` is the signal's number, `index`
 * the argument of sp_signal_value(), `ticks` is 1 + overruns. Signal-safe. */
typedef void (*sp_signal_fn)(int number, uint32_t index, uint64_t ticks,
                             void *ucontext);

/* Choose the signal: `wanted`, or a free real-time signal if `wanted` is 0.
 * This changes nothing, and may be called during a session. Returns
 * SPANPROF_ERR_ARGUMENT if `wanted` cannot be used, or SPANPROF_ERR_SYSTEM if
 * no signal is free or another handler has replaced spanprof's. */
spanprof_status sp_signal_choose(int wanted, int *out);

/* Install the handler for `number`, also if the program has reset the signal to
 * its default action. Returns the statuses of sp_signal_choose(). */
spanprof_status sp_signal_install(int number, sp_signal_fn handle);

/* Call sp_signal_install(), but only if no other code handles or ignores the
 * signal, and if the signal was not reset to its default action since spanprof
 * last installed its handler. Returns false if the handler was not
 * installed. */
bool sp_signal_try_install(int number, sp_signal_fn handle);

/* Is spanprof's handler still installed? If not, counts it as lost and returns
 * false. */
bool sp_signal_owned(int number);

/* Does the signal have its default action? For most signals that action ends
 * the process. */
bool sp_signal_default(int number);

/* The value that the timer of thread record `index` sends. */
SP_HANDLER_CODE uint64_t sp_signal_value(uint32_t index);

/* Is `value` the result of sp_signal_value() in this process? */
SP_HANDLER_CODE bool sp_signal_value_ours(uint64_t value);

/* The number of probe signals handled so far. */
uint64_t sp_signal_probes(void);

/* Block the signal on the calling thread. */
void sp_signal_block(int number, sigset_t *mask_before);

/* Called after sp_signal_block() and after the timer was deleted: discard
 * spanprof's pending signals, send other pending signals again, and restore the
 * mask. */
void sp_signal_restore(int number, const sigset_t *mask_before);

#endif
