/* Timers of threads: which have one, and when. */
#ifndef SP_THREAD_ARMING_H
#define SP_THREAD_ARMING_H

#include "thread_table.h"

/* How many timers may be had: each keeps one queued signal of
 * RLIMIT_SIGPENDING; half of it is left to the program. */
uint32_t sp_timers_allowed(void);

/* All with the table's lock held. */

/* Set the timer of a record that has none, and book the ticks that it missed.
 * While sampling is paused, no timer is set. SPANPROF_ERR_STATE: the thread is
 * ending. SPANPROF_ERR_LIMIT: no timer is available. SPANPROF_ERR_UNSUPPORTED:
 * the signal has its default action, which would end the process. */
spanprof_status sp_thread_arm(sp_thread *thread);
void sp_thread_disarm(sp_thread *thread);

/* Disarm any record at a stop or a pause, and book its late ticks.
 */
void sp_thread_retire(sp_thread *thread);

/* Book ticks without a stack (capture.h). _end and _blocked book the ticks that
 * expired without being delivered, if the first is late by `late_ns`: _end
 * those of a thread whose timer was deleted, _blocked those of a thread that
 * blocks the signal, whose handler will skip them. _owed books the ticks that
 * the full ring rejected; if they are rejected again and `last` is set, they
 * are dropped. */
void sp_thread_book_end(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_blocked(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_rejected(sp_thread *thread, bool last);

/* Choose the signal that timers may send, by the age of a forked child and the
 * signal's action. If the choice changes, all timers are deleted, and the
 * following scan sets them again. False: they may send no signal. */
bool sp_threads_signal_update(void);

#endif
