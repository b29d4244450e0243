/* SIGPROF, which profilers of other gems have sent to the process, and a thread
 * of ours. Where it comes together with our own signal, the thread that is
 * sampled has it blocked for the moment, and the kernel looks for another one
 * that takes it (Linux 6.1, kernel/signal.c, retarget_shared_pending()): that
 * one is not to be ours, which has nothing to show. Where all have it blocked,
 * it waits for the moment to be over. */
#ifndef RB_SIGPROF_H
#define RB_SIGPROF_H

#include <stdbool.h>

/* Block it for the calling thread; whether it was not blocked before. */
bool rb_sp_sigprof_block(void);

/* Ruby gives a native thread to another Ruby thread when one has ended. */
void rb_sp_sigprof_unblock(bool blocked);

#endif
