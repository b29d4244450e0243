/* The end of a process by its last thread. Where main() was left by
 * pthread_exit(), or the process was forked by a thread that then returned, it
 * ends by exit(0) once no thread is left (pthread_exit(3)); threads of ours
 * would keep it for ever. */
#ifndef SP_LAST_THREAD_H
#define SP_LAST_THREAD_H

#include "util/system/log.h"

/* Where the last scan found so many `threads` that are not ours: if they have
 * all ended, end the process by exit(0), on a thread of its own. Collector
 * only. */
void sp_last_thread_exit(size_t threads, sp_log *log);

#endif
