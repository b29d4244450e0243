/* Protocol: `lock` guards both fields and is never held while waiting for the
 * GIL, so that a fork, which happens with the GIL, may take it. A forked child
 * has nobody inside. */
#include "py_gate.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define GATE_CLOSE_NS 100000000

static struct {
  pthread_mutex_t lock;
  pthread_cond_t left;
  unsigned inside;
  int closed;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static void gate_before_fork(void) {
  pthread_mutex_lock(&gate.lock);
}

static void gate_after_fork_parent(void) {
  pthread_mutex_unlock(&gate.lock);
}

static void gate_after_fork_child(void) {
  pthread_mutex_init(&gate.lock, NULL);
  pthread_cond_init(&gate.left, NULL);
  gate.inside = 0;
}

static void gate_step_out(void) {
  pthread_mutex_lock(&gate.lock);
  gate.inside--;
  pthread_cond_broadcast(&gate.left);
  pthread_mutex_unlock(&gate.lock);
}

/* With the lock. It closes by itself where the exit hooks were cleared, as soon
 * as the interpreter is finalised; there is none to ask after that. Without a
 * thread state Python is over: so ends a child whose forking thread returned.
 * CPython 3.12.1 may abort where one is made while the last one is freed
 * (new_threadstate(), which then takes the same). */
static int gate_open(void) {
  return !gate.closed && Py_IsInitialized() &&
         PyInterpreterState_ThreadHead(PyInterpreterState_Main());
}

int py_sp_gate_enter(PyGILState_STATE *state) {
  int open;

  pthread_mutex_lock(&gate.lock);
  open = gate_open();
  gate.inside += (unsigned)open;
  pthread_mutex_unlock(&gate.lock);
  if (open)
    *state = PyGILState_Ensure();
  return open;
}

void py_sp_gate_leave(PyGILState_STATE state) {
  PyGILState_Release(state);
  gate_step_out();
}

void py_sp_gate_close(void) {
  struct timespec until;
  int waited = 0;

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += GATE_CLOSE_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&gate.lock);
  gate.closed = 1;
  while (gate.inside > 0 && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&gate.left, &gate.lock, &until);
  pthread_mutex_unlock(&gate.lock);
}

int py_sp_gate_closed(void) {
  int closed;

  pthread_mutex_lock(&gate.lock);
  closed = !gate_open();
  pthread_mutex_unlock(&gate.lock);
  return closed;
}

int py_sp_gate_init(void) {
  if (pthread_atfork(gate_before_fork, gate_after_fork_parent,
                     gate_after_fork_child) == 0)
    return 0;
  PyErr_NoMemory();
  return -1;
}
