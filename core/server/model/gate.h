/* A few at a time: work that takes a core for a while, so that threads which
 * wait for the disk in between find one free. First come, first served. */
#ifndef SP_GATE_H
#define SP_GATE_H

#include <pthread.h>

#include "util/base.h"

typedef struct sp_gate {
  /* Fixed after sp_gate_init(). */
  uint64_t width;
  /* Guarded by lock. */
  pthread_mutex_t lock;
  pthread_cond_t left;
  uint64_t entered; /* or waiting to */
  uint64_t gone;
} sp_gate;

/* For `a_core` at once on each core of the machine. */
void sp_gate_init(sp_gate *gate, unsigned a_core);
void sp_gate_dispose(sp_gate *gate);

/* Wait for a place, and give it back before waiting for something else. */
void sp_gate_enter(sp_gate *gate);

/* False, at once, where so many wait already. */
bool sp_gate_enter_within(sp_gate *gate, uint64_t waiting_max);

void sp_gate_leave(sp_gate *gate);

#endif
