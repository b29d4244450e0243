/* Protocol: `lock` guards `inside`, the number of threads that have the GIL by
 * py_sp_gil_acquire() or wait for it, and `closed`. No thread holds the lock
 * while it waits for the GIL: a thread that forks has the GIL and waits for the
 * lock, so both would wait for ever. In a forked child, `inside` is 0. */
#include "py_gil.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/py_version.h"
#include "util/system/own_thread.h"

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

static void gil_leave(void) {
  pthread_mutex_lock(&gil.lock);
  gil.inside--;
  pthread_cond_broadcast(&gil.left);
  pthread_mutex_unlock(&gil.lock);
}

/* Returns whether a thread of the library may still acquire the GIL. The caller
 * holds the lock. Returns false if py_sp_gil_close() was called, C's exit
 * handlers have begun, or the interpreter is finalized: a program may clear the
 * hooks of atexit, so that py_sp_gil_close() is not called. Also returns false
 * if the interpreter has no thread states, as in a forked child after the
 * thread that forked has returned: CPython 3.12.1 may abort if a thread state
 * is created while the last one is freed (new_threadstate(), which reuses the
 * memory). */
static int gil_open(void) {
  return !gil.closed && !sp_exit_begun() && Py_IsInitialized() &&
         PyInterpreterState_ThreadHead(PyInterpreterState_Main());
}

int py_sp_gil_acquire(PyGILState_STATE *state) {
  int open;

  pthread_mutex_lock(&gil.lock);
  open = gil_open();
  gil.inside += (unsigned)open;
  pthread_mutex_unlock(&gil.lock);
  if (open)
    *state = PyGILState_Ensure();
  return open;
}

/* Remove the calling thread from the threads that `threading` lists.
 * threading.current_thread(), called on a thread that Python did not start,
 * adds an entry for this thread. Up to CPython 3.12, the entry stays for ever,
 * and joining it fails. */
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

/* Block the calling thread, without the GIL, once C's exit handlers have begun:
 * if a program embeds Python and exits without finalizing it, a thread of the
 * library may still run at this time. */
static void gil_pass_gate(void) {
  if (!sp_exit_begun())
    return;
  Py_BEGIN_ALLOW_THREADS
  sp_own_thread_gate();
  Py_END_ALLOW_THREADS
}

void py_sp_gil_release(PyGILState_STATE state) {
  gil_pass_gate();
  gil_forget_thread();
  PyGILState_Release(state);
  gil_leave();
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

/* How long gil_wait_for_daemons() waits, in switch intervals. Each thread that
 * waits for the GIL checks once per interval whether it must exit; a busy
 * machine may need more than one interval. GIL_DAEMON_MAX_US is the limit if
 * the program has set a long interval by sys.setswitchinterval(). */
#define GIL_DAEMON_INTERVALS 4
#define GIL_DAEMON_MAX_US    250000
#define GIL_DAEMON_STEP_US   1000

/* Returns whether another thread exists that may use Python: a thread of the
 * program, or a thread of the library that has the GIL or waits for it. */
static int gil_has_others(void) {
  int others;

  pthread_mutex_lock(&gil.lock);
  others = gil.inside > 0;
  pthread_mutex_unlock(&gil.lock);
  return others || !sp_own_threads_only();
}

/* Wait until daemon threads have exited, before CPython 3.10 frees the
 * interpreter. A daemon thread that waits for the GIL checks once per switch
 * interval whether it must exit. If it must, and had requested a switch, it
 * withdraws its request from the interpreter (take_gil(),
 * https://github.com/python/cpython/issues/96387), which crashes if the
 * interpreter has been freed. The longer the process takes to exit, the
 * likelier is the crash; OpenSSL, which libcurl loads, adds milliseconds. The
 * caller holds the GIL, so that none of these threads can acquire it. CPython
 * has already freed their thread states. */
static void gil_wait_for_daemons(PyObject *mark) {
  const unsigned long limit_us =
      GIL_DAEMON_INTERVALS * py_sp_version_gil_check_us();
  unsigned long waited_us = 0;

  (void)mark;
  while (gil_has_others() && waited_us < limit_us &&
         waited_us < GIL_DAEMON_MAX_US) {
    usleep(GIL_DAEMON_STEP_US);
    waited_us += GIL_DAEMON_STEP_US;
  }
}

/* Let gil_wait_for_daemons() run when the interpreter's dict is freed, as the
 * destructor of a capsule in this dict. Returns 0, or -1 with an exception. */
static int gil_register_end(void) {
  PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());
  PyObject *mark = PyCapsule_New(&gil, NULL, gil_wait_for_daemons);
  const int status =
      dict && mark ? PyDict_SetItemString(dict, "spanprof.gil", mark) : -1;

  Py_XDECREF(mark);
  if (!dict && mark)
    PyErr_NoMemory();
  return status;
}

int py_sp_gil_init(PyObject *module) {
  (void)module;
  if (pthread_atfork(gil_before_fork, gil_after_fork_parent,
                     gil_after_fork_child) == 0)
    return py_sp_version_gil_check_us() ? gil_register_end() : 0;
  PyErr_NoMemory();
  return -1;
}
