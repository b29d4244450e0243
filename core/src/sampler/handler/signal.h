/* The sampling signal: its number, its handler, and coexistence with other
 * users of the signal.
 *
 * Protocol: the handler is installed once and stays for the life of the
 * process, because a late signal must never trigger the default action, which
 * ends the process. Without a session the handler does nothing. A signal is
 * ours if a timer sent it and its value contains this process's cookie. All
 * other signals are passed to the handler that was installed before. A handler
 * that other code installs over ours later is detected and counted, and
 * stays. */
#ifndef SP_SIGNAL_H
#define SP_SIGNAL_H

#include <signal.h>

#include "util/base.h"

/* The index that sp_timer_probe() uses. */
#define SP_SIGNAL_PROBE 0u

/* Handles one of our signals. `number` is the signal's number, `index` the
 * argument of sp_signal_value(), `ticks` is 1 + overruns. Signal-safe. */
typedef void (*sp_signal_fn)(int number, uint32_t index, uint64_t ticks,
                             void *ucontext);

/* Choose the signal: `wanted`, or a free real-time signal if `wanted` is 0.
 * Changes nothing, and may be called during a session. SPANPROF_ERR_ARGUMENT:
 * no such signal. SPANPROF_ERR_SYSTEM: none is free, or another handler
 * replaced ours. */
spanprof_status sp_signal_choose(int wanted, int *out);

/* Install the handler for `number`. Also reinstalls it after the program has
 * reset the signal to its default action. */
spanprof_status sp_signal_install(int number, sp_signal_fn handle);

/* As sp_signal_install(), but only if no other code handles or ignores the
 * signal, and if the signal was not reset to its default action since our last
 * installation. Returns false otherwise. */
bool sp_signal_try_install(int number, sp_signal_fn handle);

/* Is our handler still installed? If not, counts it and returns false. */
bool sp_signal_owned(int number);

/* Does the signal have its default action? For most signals that action ends
 * the process. */
bool sp_signal_default(int number);

/* The value of a timer for `index`. */
SP_HANDLER_CODE uint64_t sp_signal_value(uint32_t index);

/* Was `value` made by sp_signal_value()? */
SP_HANDLER_CODE bool sp_signal_value_ours(uint64_t value);

/* The number of probe signals handled so far. */
uint64_t sp_signal_probes(void);

/* Block the signal on the calling thread. */
void sp_signal_block(int number, sigset_t *mask_before);

/* After sp_signal_block() and after the timer was deleted: discard pending
 * signals of ours, send others again, and restore the mask. */
void sp_signal_restore(int number, const sigset_t *mask_before);

#endif
