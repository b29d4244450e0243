/* The collector's look at the threads of the process. */
#ifndef SP_THREAD_SCAN_H
#define SP_THREAD_SCAN_H

#include "util/system/log.h"

/* Look at /proc/self/task: enrol who is new, remove who is gone, find who
 * blocks our signal, and have late ticks (SP_THREAD_LATE_NS) of those that run
 * sent. Sets the threads_* counters. Returns the number of threads. Collector
 * only. */
size_t sp_threads_scan(sp_log *log);

#endif
