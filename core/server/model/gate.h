/* A limit for the number of threads that do one kind of work at the same time.
 * Threads enter in the order in which they arrive.
 *
 * Any thread may call these functions. */
#ifndef SP_GATE_H
#define SP_GATE_H

#include <pthread.h>

#include "util/base.h"

typedef struct sp_gate {
  /* Fixed after sp_gate_init(). */
  uint64_t width; /* number of threads that may be inside at the same time */
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t left;
  uint64_t arrived_count; /* number of threads that have entered or wait */
  uint64_t left_count;    /* number of threads that have entered and left */
} sp_gate;

void sp_gate_init(sp_gate *gate, uint64_t width);
void sp_gate_dispose(sp_gate *gate);

/* Wait until fewer than `width` threads are inside, then enter. */
void sp_gate_enter(sp_gate *gate);

/* Like sp_gate_enter(), but if `waiting_max` threads wait already, return false
 * without waiting. If `waiting_max` is 0, the function never waits. */
bool sp_gate_enter_within(sp_gate *gate, uint64_t waiting_max);

void sp_gate_leave(sp_gate *gate);

/* Returns the number of processors that are online, at least 1. This is the
 * width for work that needs a processor all the time. */
uint64_t sp_gate_processors(void);

#endif
