/* Sets and deletes threads' timers, and records the ticks that no timer
 * delivers. */
#ifndef SP_THREAD_ARMING_H
#define SP_THREAD_ARMING_H

#include "thread_table.h"

/* The maximum number of timers. Each timer reserves one queued signal of
 * RLIMIT_SIGPENDING; half of that limit is left to the program. */
uint32_t sp_timers_allowed(void);

/* The caller of all functions below holds the table's lock. */

/* Set the timer of a record that has none, and record the ticks that it missed.
 * While sampling is paused, no timer is set. SPANPROF_ERR_STATE: the thread is
 * ending. SPANPROF_ERR_LIMIT: no timer is available. SPANPROF_ERR_UNSUPPORTED:
 * the signal has its default action, which would end the process. */
spanprof_status sp_thread_arm(sp_thread *thread);
void sp_thread_disarm(sp_thread *thread);

/* Delete the record's timer, if any, at a stop or a pause, and record its late
 * ticks. */
void sp_thread_retire(sp_thread *thread);

/* Record ticks without a stack (capture.h).
 *
 * _end and _blocked record the ticks that expired but were not delivered, if
 * the first of them is late by at least `late_ns`: _end for a thread whose
 * timer was deleted, _blocked for a thread that blocks the signal (its handler
 * will skip these ticks).
 *
 * _rejected records the ticks that the full ring rejected. If the ring rejects
 * them again and `last` is set, they are dropped. */
void sp_thread_book_end(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_blocked(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_rejected(sp_thread *thread, bool last);

/* Choose the signal that timers may send: a young forked child uses
 * SP_THREAD_YOUNG_SIGNAL, and no timer sends a signal that has its default
 * action. If the choice changes, all timers are deleted, and the following scan
 * sets them again. Returns false if timers may send no signal. */
bool sp_threads_signal_update(void);

#endif
