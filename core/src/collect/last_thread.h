/* Ends a process when the last thread of the program has ended.
 *
 * If main() has called pthread_exit(), or if a forked child's first thread has
 * returned, the process ends by exit(0) when its last thread ends
 * (pthread_exit(3)). The library's own threads would keep such a process alive
 * forever. */
#ifndef SP_LAST_THREAD_H
#define SP_LAST_THREAD_H

#include "util/system/log.h"

/* If all threads of the program have ended, start a thread that ends the
 * process by exit(0). `threads` is the number of threads that the last scan
 * found. Called on the collector thread. */
void sp_last_thread_exit(size_t threads, sp_log *log);

#endif
