/* A thread's name, state and signal mask, from /proc/self/task. */
#ifndef SP_THREAD_STATUS_H
#define SP_THREAD_STATUS_H

#include "util/base.h"

typedef struct sp_thread_status {
  char name[32];
  bool runs;        /* or wants to */
  uint64_t blocked; /* the bit of signal 1 is the lowest */
} sp_thread_status;

/* False: the thread is gone. So is main's after its end, of which the kernel
 * says that it blocks every signal. */
bool sp_thread_status_read(int tid, sp_thread_status *out);

/* The start time of the thread, in clock ticks since boot; 0: not known. */
uint64_t sp_thread_began(int tid);

/* The present time on that clock. */
uint64_t sp_thread_clock(void);

#endif
