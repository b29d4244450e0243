/* Blocks SIGPROF on the profiler's own Ruby threads. Profilers of other gems
 * send SIGPROF to the process. While spanprof's signal handler runs, the
 * sampled thread blocks SIGPROF, so the kernel chooses another thread for the
 * signal (Linux 6.1, kernel/signal.c, retarget_shared_pending()). If it chose
 * one of spanprof's threads, the other profiler would sample that thread. If
 * all threads block the signal, it stays pending until spanprof's handler
 * returns. */
#ifndef RB_SIGPROF_H
#define RB_SIGPROF_H

#include <stdbool.h>

/* Block SIGPROF for the calling thread. Returns whether it was unblocked
 * before. */
bool rb_sp_sigprof_block(void);

/* Unblock SIGPROF for the calling thread if `blocked`, the result of
 * rb_sp_sigprof_block(), is true. Called when a Ruby thread ends, because Ruby
 * reuses its native thread for another one. */
void rb_sp_sigprof_unblock(bool blocked);

#endif
