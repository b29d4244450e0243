/* The collector's scan of the process's threads. */
#ifndef SP_THREAD_SCAN_H
#define SP_THREAD_SCAN_H

#include "util/system/log.h"

/* Scan /proc/self/task: enrol new threads, remove ended ones, find threads that
 * block spanprof's signal, and make late timers (SP_THREAD_LATE_NS) of running
 * threads send their signal. Sets the threads_* counters. Returns the number of
 * threads. Only the collector calls it. */
size_t sp_threads_scan(sp_log *log);

#endif
