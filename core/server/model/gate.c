#include "gate.h"

#include <unistd.h>

void sp_gate_init(sp_gate *gate, unsigned a_core) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);

  *gate = (sp_gate){.width = (cores > 1 ? (uint64_t)cores : 1) * a_core};
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
  number = gate->entered;
  enters = number - gate->gone < gate->width + waiting_max;
  if (enters)
    gate->entered++;
  while (enters && number >= gate->gone + gate->width)
    pthread_cond_wait(&gate->left, &gate->lock);
  pthread_mutex_unlock(&gate->lock);
  return enters;
}

void sp_gate_enter(sp_gate *gate) {
  sp_gate_enter_within(gate, UINT32_MAX);
}

void sp_gate_leave(sp_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->gone++;
  pthread_cond_broadcast(&gate->left);
  pthread_mutex_unlock(&gate->lock);
}
