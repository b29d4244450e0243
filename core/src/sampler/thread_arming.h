/* Sets and deletes the timers of threads, and records the ticks that no timer
 * delivers. */
#ifndef SP_THREAD_ARMING_H
#define SP_THREAD_ARMING_H

#include "thread_table.h"

/* The maximum number of timers. Each timer reserves one of the signals that
 * RLIMIT_SIGPENDING allows to be queued; half of them are left to the
 * program. */
uint32_t sp_timers_allowed(void);

/* The caller of all functions below holds `sp_threads.lock`. */

/* Set the timer of a record that has none, and record the ticks that expired
 * before. While sampling is paused, no timer is set. Returns SPANPROF_ERR_STATE
 * if the thread is ending, SPANPROF_ERR_LIMIT if no timer is available, or
 * SPANPROF_ERR_UNSUPPORTED if the signal has its default action, which would
 * end the process. */
spanprof_status sp_thread_arm(sp_thread *thread);
void sp_thread_disarm(sp_thread *thread);

/* At a stop or a pause: delete the record's timer if it has one, and record its
 * late ticks. */
void sp_thread_retire(sp_thread *thread);

/* Record ticks without a stack (capture.h).
 *
 * sp_thread_book_end() and sp_thread_book_blocked() record the ticks that
 * expired but were not delivered, if the first of them is late by at least
 * `late_ns`. The former is for a thread whose timer was deleted, the latter for
 * a thread that blocks the signal (its handler will skip these ticks).
 *
 * sp_thread_book_rejected() records the ticks that the full ring rejected. If
 * the ring rejects them again and `last` is set, they are dropped. */
void sp_thread_book_end(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_blocked(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_rejected(sp_thread *thread, bool last);

/* Choose the signal that timers may send: a young forked child uses
 * SP_THREAD_YOUNG_SIGNAL, and no timer sends a signal that has its default
 * action. If the choice changes, all timers are deleted, and the following scan
 * sets them again. Returns false if timers must not send any signal. */
bool sp_threads_signal_update(void);

#endif
