/* A wake-up that a signal handler may send to one sleeping thread.
 *
 * Protocol: the sleeping thread clears the wake-up, looks for work, then waits
 * until the next wake-up or a time. A thread or handler with new work first
 * makes the work visible, then calls. A call that arrives while the thread
 * works, or before it sleeps, is not lost: the thread sleeps only if there was
 * no call since it cleared the wake-up. */
#ifndef SP_WAKE_H
#define SP_WAKE_H

#include "util/base.h"

typedef struct sp_wake {
  /* A futex: 1 after a call, 0 after sp_wake_clear(). */
  _Atomic uint32_t called;
} sp_wake;

/* Wake the sleeping thread, unless an earlier call since the last
 * sp_wake_clear() has done so. */
SP_SIGNAL_SAFE void sp_wake_call(sp_wake *wake);

/* The sleeping thread calls this before it looks for work. Later calls of
 * sp_wake_call() will wake it. */
void sp_wake_clear(sp_wake *wake);

/* The sleeping thread calls this to wait for sp_wake_call(), or until
 * CLOCK_MONOTONIC reaches `until_ns` (UINT64_MAX: no limit). It may return
 * earlier. */
void sp_wake_wait(sp_wake *wake, uint64_t until_ns);

#endif
