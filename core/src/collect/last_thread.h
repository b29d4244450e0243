/* Ends a process after its last thread has ended.
 *
 * A process in which main() has called pthread_exit(), or which was forked by a
 * thread that then returned, ends by exit(0) with its last thread
 * (pthread_exit(3)). The library's own threads would keep such a process alive
 * forever. */
#ifndef SP_LAST_THREAD_H
#define SP_LAST_THREAD_H

#include "util/system/log.h"

/* End the process by exit(0), on a thread of its own, if all of the program's
 * threads have ended. `threads` is the number that the last scan found. Called
 * on the collector's thread. */
void sp_last_thread_exit(size_t threads, sp_log *log);

#endif
