/* Timers of threads: which have one, and when. */
#ifndef SP_THREAD_ARMING_H
#define SP_THREAD_ARMING_H

#include "thread_table.h"

/* How many timers may be had: each keeps one queued signal of
 * RLIMIT_SIGPENDING; half of it is left to the program. */
uint32_t sp_timers_allowed(void);

/* All with the table's lock held. */

/* Set the timer of a record that has none, and book the ticks that it missed;
 * none while sampling is paused. SPANPROF_ERR_STATE: the thread is ending.
 * SPANPROF_ERR_LIMIT: no timer to be had. SPANPROF_ERR_UNSUPPORTED: the
 * signal's action is the default one, which would end the process. */
spanprof_status sp_thread_arm(sp_thread *thread);
void sp_thread_disarm(sp_thread *thread);

/* The same at a stop or a pause, of any record; ticks that are late are booked.
 */
void sp_thread_retire(sp_thread *thread);

/* Book ticks without a stack (capture.h). Those that expired and were not
 * delivered, if the first is that late: of a thread whose timer was deleted; or
 * of one that blocks the signal, whose handler will leave them out. Those that
 * found the ring full: `last`, or else they are dropped. */
void sp_thread_book_end(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_blocked(sp_thread *thread, uint64_t late_ns);
void sp_thread_book_owed(sp_thread *thread, bool last);

/* Have timers send what they may, by the child's age and the signal's action:
 * where that changed they are gone, and set again by the scan that follows.
 * False: there is none that they may send. */
bool sp_threads_signal_look(void);

#endif
