/* Protocol: `lock` guards both fields and is never held while waiting for the
 * GIL, so that a fork, which happens with the GIL, may take it. A forked child
 * has nobody inside. */
#include "py_gil.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define GIL_CLOSE_NS 100000000

static struct {
  pthread_mutex_t lock;
  pthread_cond_t left;
  unsigned inside;
  int closed;
} gil = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static void gil_before_fork(void) {
  pthread_mutex_lock(&gil.lock);
}

static void gil_after_fork_parent(void) {
  pthread_mutex_unlock(&gil.lock);
}

static void gil_after_fork_child(void) {
  pthread_mutex_init(&gil.lock, NULL);
  pthread_cond_init(&gil.left, NULL);
  gil.inside = 0;
}

static void gil_step_out(void) {
  pthread_mutex_lock(&gil.lock);
  gil.inside--;
  pthread_cond_broadcast(&gil.left);
  pthread_mutex_unlock(&gil.lock);
}

/* With the lock. It closes by itself where the exit hooks were cleared, as soon
 * as the interpreter is finalised; there is none to ask after that. Without a
 * thread state Python is over: so ends a child whose forking thread returned.
 * CPython 3.12.1 may abort where one is made while the last one is freed
 * (new_threadstate(), which then takes the same). */
static int gil_open(void) {
  return !gil.closed && Py_IsInitialized() &&
         PyInterpreterState_ThreadHead(PyInterpreterState_Main());
}

int py_sp_gil_take(PyGILState_STATE *state) {
  int open;

  pthread_mutex_lock(&gil.lock);
  open = gil_open();
  gil.inside += (unsigned)open;
  pthread_mutex_unlock(&gil.lock);
  if (open)
    *state = PyGILState_Ensure();
  return open;
}

/* Who asks for threading.current_thread() on a thread that Python did not start
 * leaves an entry there, up to CPython 3.12 for ever, and joining it fails. */
static void gil_forget_thread(void) {
  PyObject *name = PyUnicode_FromString("threading");
  PyObject *threading = name ? PyImport_GetModule(name) : NULL;
  PyObject *kind =
      threading ? PyObject_GetAttrString(threading, "_DummyThread") : NULL;
  PyObject *active = kind ? PyObject_GetAttrString(threading, "_active") : NULL;
  PyObject *number =
      active ? PyLong_FromUnsignedLong(PyThread_get_thread_ident()) : NULL;
  PyObject *thread = number && PyDict_Check(active)
                         ? PyDict_GetItemWithError(active, number)
                         : NULL;

  if (thread && (PyObject *)Py_TYPE(thread) == kind)
    PyDict_DelItem(active, number);
  PyErr_Clear();
  Py_XDECREF(number);
  Py_XDECREF(active);
  Py_XDECREF(kind);
  Py_XDECREF(threading);
  Py_XDECREF(name);
}

void py_sp_gil_give_back(PyGILState_STATE state) {
  gil_forget_thread();
  PyGILState_Release(state);
  gil_step_out();
}

void py_sp_gil_close(void) {
  struct timespec until;
  int waited = 0;

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += GIL_CLOSE_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&gil.lock);
  gil.closed = 1;
  while (gil.inside > 0 && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&gil.left, &gil.lock, &until);
  pthread_mutex_unlock(&gil.lock);
}

int py_sp_gil_closed(void) {
  int closed;

  pthread_mutex_lock(&gil.lock);
  closed = !gil_open();
  pthread_mutex_unlock(&gil.lock);
  return closed;
}

int py_sp_gil_init(void) {
  if (pthread_atfork(gil_before_fork, gil_after_fork_parent,
                     gil_after_fork_child) == 0)
    return 0;
  PyErr_NoMemory();
  return -1;
}
