/* A thread's name, state and signal mask, from /proc/self/task. */
#ifndef SP_THREAD_STATUS_H
#define SP_THREAD_STATUS_H

#include "util/base.h"

typedef struct sp_thread_status {
  char name[32];
  bool runs;        /* the thread is running or runnable */
  uint64_t blocked; /* the signals that the thread blocks; bit 0 is signal 1 */
} sp_thread_status;

/* Read a thread's status. Returns false if the thread has ended. That includes
 * the main thread after pthread_exit(): the kernel then reports that it blocks
 * every signal. */
bool sp_thread_status_read(int tid, sp_thread_status *out);

/* The start time of the thread, in clock ticks since boot, or 0 if unknown. */
uint64_t sp_thread_began(int tid);

/* The present time on the clock of sp_thread_began(). */
uint64_t sp_thread_clock(void);

#endif
