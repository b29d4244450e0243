/* Timers of threads: which have one, and when. */
#ifndef SP_THREAD_ARMING_H
#define SP_THREAD_ARMING_H

#include "thread_table.h"

/* How many timers may be had: each keeps one queued signal of
 * RLIMIT_SIGPENDING; half of it is left to the program. */
uint32_t sp_timers_allowed(void);

/* All with the table's lock held. */

/* Set the timer of a record that has none; none while sampling is paused.
 * SPANPROF_ERR_STATE: the thread is ending, or the process has prepared itself
 * for another program. SPANPROF_ERR_LIMIT: no timer to be had. */
spanprof_status sp_thread_arm(sp_thread *thread);
void sp_thread_disarm(sp_thread *thread);

/* The same at a stop or a pause, of any record: the ticks of the calling thread
 * that are late are booked. */
void sp_thread_retire(sp_thread *thread);

/* Have timers send what they may, by the child's age and the signal's action:
 * where that changed they are gone, and set again by the scan that follows. */
void sp_threads_signal_look(void);

#endif
