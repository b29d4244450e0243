/* Blocks SIGPROF, which profilers of other gems send to the process, on a
 * thread of ours. If SIGPROF arrives together with our own signal, the sampled
 * thread blocks it for a moment, and the kernel chooses another thread (Linux
 * 6.1, kernel/signal.c, retarget_shared_pending()). That thread should not be
 * ours, which runs nothing of interest. If all threads block the signal, it
 * stays pending until the moment is over. */
#ifndef RB_SIGPROF_H
#define RB_SIGPROF_H

#include <stdbool.h>

/* Block the signal for the calling thread. Returns whether it was unblocked
 * before. */
bool rb_sp_sigprof_block(void);

/* Unblock it if `blocked`: Ruby reuses the native thread of an ended Ruby
 * thread for another one. */
void rb_sp_sigprof_unblock(bool blocked);

#endif
