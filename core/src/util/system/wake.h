/* A sleeper that a signal handler may wake.
 *
 * Protocol: the sleeper takes the calls, looks for work, and sleeps until the
 * next call or the time. Whoever has work for it makes that visible first, then
 * calls. A call that comes while it works or before it sleeps is not lost: it
 * sleeps only where nothing was called since it took the calls. */
#ifndef SP_WAKE_H
#define SP_WAKE_H

#include "util/base.h"

typedef struct sp_wake {
  _Atomic uint32_t called; /* a futex */
} sp_wake;

/* Wake the sleeper, unless that was done since it took the calls. */
SP_SIGNAL_SAFE void sp_wake_call(sp_wake *wake);

/* The sleeper: from here on a call is a new one. */
void sp_wake_clear(sp_wake *wake);

/* The sleeper: until a call, or CLOCK_MONOTONIC reaches `until_ns` (UINT64_MAX:
 * for ever). May wake early. */
void sp_wake_wait(sp_wake *wake, uint64_t until_ns);

#endif
