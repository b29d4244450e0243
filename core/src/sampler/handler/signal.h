/* Our signal: which one, its handler, and whoever else uses it.
 *
 * Protocol: the handler is installed once and stays for the life of the
 * process (a late signal must never meet the default action, which ends the
 * process); without a session it does nothing. A signal is ours if a timer sent
 * it and its value carries this process's cookie; every other one is passed to
 * the handler that was there before. A handler that someone installs over ours
 * later is noticed, counted and never fought. */
#ifndef SP_SIGNAL_H
#define SP_SIGNAL_H

#include <signal.h>

#include "util/base.h"

/* Index that only sp_timer_probe() uses. */
#define SP_SIGNAL_PROBE 0u

/* Handles one of our signals: `number` it came by, `index` is what
 * sp_signal_value() was given, `ticks` 1 + overruns. Signal-safe. */
typedef void (*sp_signal_fn)(int number, uint32_t index, uint64_t ticks,
                             void *ucontext);

/* The signal to use: `wanted`, or a free real-time signal where it is 0.
 * Changes nothing, and may be called beside a session. SPANPROF_ERR_ARGUMENT:
 * no such signal; SPANPROF_ERR_SYSTEM: none is free, or another handler took
 * the place of ours. */
spanprof_status sp_signal_choose(int wanted, int *out);

/* Install the handler for `number`, also again after the program has reset the
 * signal to its default action. */
spanprof_status sp_signal_install(int number, sp_signal_fn handle);

/* The same, but only if no other code handles or ignores the signal or has
 * reset it to its default action since. */
bool sp_signal_borrow(int number, sp_signal_fn handle);

/* Is our handler the one installed? Counts and returns false if not. */
bool sp_signal_owned(int number);

/* Is the signal's action the default one, which of all but a few ends the
 * process? */
bool sp_signal_default(int number);

/* The value a timer carries for `index`. */
SP_HANDLER_CODE uint64_t sp_signal_value(uint32_t index);

/* Is `value` one of sp_signal_value()? */
SP_HANDLER_CODE bool sp_signal_value_ours(uint64_t value);

/* Probe signals handled so far. */
uint64_t sp_signal_probes(void);

/* Block the signal on the calling thread. */
void sp_signal_block(int number, sigset_t *mask_before);

/* With the signal held and its timer deleted: take what is pending of ours
 * (signals of others are sent again), then restore the mask. */
void sp_signal_restore(int number, const sigset_t *mask_before);

#endif
