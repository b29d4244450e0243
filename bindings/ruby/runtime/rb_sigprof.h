/* Blocks SIGPROF on the profiler's own Ruby threads. Profilers of other gems
 * send SIGPROF to the process. While our signal handler runs, the sampled
 * thread blocks SIGPROF, and the kernel chooses another thread (Linux 6.1,
 * kernel/signal.c, retarget_shared_pending()). If it chose one of the
 * profiler's threads, the other profiler would sample that thread. If all
 * threads block the signal, it stays pending until our handler returns. */
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
