#include "gate.h"

#include <unistd.h>

uint64_t sp_gate_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);

  return count > 1 ? (uint64_t)count : 1;
}

void sp_gate_init(sp_gate *gate, uint64_t width) {
  *gate = (sp_gate){.width = width};
  pthread_mutex_init(&gate->lock, NULL);
  pthread_cond_init(&gate->left, NULL);
}

void sp_gate_dispose(sp_gate *gate) {
  pthread_cond_destroy(&gate->left);
  pthread_mutex_destroy(&gate->lock);
}

bool sp_gate_enter_within(sp_gate *gate, uint64_t waiting_max) {
  uint64_t number;
  bool enters;

  pthread_mutex_lock(&gate->lock);
  number = gate->arrived_count;
  enters = number - gate->left_count < gate->width + waiting_max;
  if (enters)
    gate->arrived_count++;
  while (enters && number >= gate->left_count + gate->width)
    pthread_cond_wait(&gate->left, &gate->lock);
  pthread_mutex_unlock(&gate->lock);
  return enters;
}

void sp_gate_enter(sp_gate *gate) {
  sp_gate_enter_within(gate, UINT32_MAX);
}

void sp_gate_leave(sp_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->left_count++;
  pthread_cond_broadcast(&gate->left);
  pthread_mutex_unlock(&gate->lock);
}
