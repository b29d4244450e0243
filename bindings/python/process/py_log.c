/* The library's threads write log lines. They must not wait for the GIL to do
 * so, because a fork holds the GIL while it waits for these threads. So the
 * lines are stored in a queue (log_lines.h). If the program has called a
 * function of the library, this call delivers the stored lines to Python's
 * logger before it returns; otherwise a temporary thread delivers them and
 * exits. A pending call (Py_AddPendingCall()) cannot deliver them: it may
 * interrupt a log handler of the program that holds a non-recursive lock, and
 * the main thread, which would run it, may sleep for ever. If a signal (Ctrl-C)
 * interrupts a call of the program, this call fails and a temporary thread
 * delivers the remaining lines.
 *
 * Protocol: `lock` guards the fields of `logged`, and no thread holds the lock
 * while it calls Python. A forked child starts without lines, because the
 * parent delivers them. */
#include "py_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/py_warning.h"
#include "log_lines.h"
#include "py_gil.h"
#include "util/system/own_thread.h"
#include "util/system/stderr_line.h"

static struct {
  pthread_mutex_t lock;
  pthread_cond_t delivered;
  sp_log_line *pending; /* lines taken from the queue, oldest first */
  unsigned lost;
  unsigned calls; /* running calls that will deliver lines */
  int delivering; /* whether a temporary thread delivers lines */
  PyObject *sink; /* the callable for lines; guarded by the GIL only */
} logged = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .delivered = PTHREAD_COND_INITIALIZER};

static void log_before_fork(void) {
  pthread_mutex_lock(&logged.lock);
}

static void log_after_fork_parent(void) {
  pthread_mutex_unlock(&logged.lock);
}

static void log_pending_free(void) {
  sp_log_line *line;

  while ((line = logged.pending)) {
    logged.pending = line->next;
    free(line);
  }
}

static void log_after_fork_child(void) {
  pthread_mutex_init(&logged.lock, NULL);
  pthread_cond_init(&logged.delivered, NULL);
  sp_log_lines_drop();
  log_pending_free();
  logged.lost = 0;
  logged.calls = 0;
  logged.delivering = 0;
}

/* Pass one line to the callable `sink`. Returns 0, or -1 with an exception that
 * must propagate (Ctrl-C). Always returns 0 if `thread` is true, because the
 * temporary thread has no caller that could get the exception. */
static int log_call(int thread, spanprof_log_level level, const char *text) {
  PyObject *result =
      logged.sink ? PyObject_CallFunction(logged.sink, "is", (int)level, text)
                  : NULL;

  Py_XDECREF(result);
  if (result || !PyErr_Occurred())
    return 0;
  if (!thread && !py_sp_error_is_ordinary())
    return -1;
  PyErr_WriteUnraisable(logged.sink);
  return 0;
}

/* Remove and return the next line, or NULL if there is none. After the last
 * line, *lost is the number of lines that were dropped; before, it is 0. When
 * nothing is left, clears `delivering` if the caller is the temporary thread
 * (`thread`). */
static sp_log_line *log_next(int thread, unsigned *lost) {
  sp_log_line *line;

  pthread_mutex_lock(&logged.lock);
  if (!logged.pending)
    logged.pending = sp_log_lines_remove_all();
  line = logged.pending;
  *lost = line ? 0 : logged.lost;
  if (line)
    logged.pending = line->next;
  else
    logged.lost = 0;
  if (!line && !*lost && thread) {
    logged.delivering = 0;
    pthread_cond_broadcast(&logged.delivered);
  }
  pthread_mutex_unlock(&logged.lock);
  return line;
}

/* Deliver all lines, including those that are added meanwhile. Needs the GIL.
 * Returns 0, or -1 with an exception that must propagate. */
static int log_deliver(int thread) {
  char sentence[80];
  sp_log_line *line;
  unsigned lost;
  int status = 0;

  while (!status && ((line = log_next(thread, &lost)) || lost)) {
    snprintf(sentence, sizeof sentence, "%u more log lines were dropped", lost);
    status = log_call(thread, line ? line->level : SPANPROF_LOG_WARN,
                      line ? line->text : sentence);
    free(line);
  }
  return status;
}

static void *log_thread(void *unused) {
  PyGILState_STATE state;

  (void)unused;
  if (py_sp_gil_acquire(&state)) {
    log_deliver(1);
    py_sp_gil_release(state);
  }
  return NULL;
}

/* Start the temporary thread if neither a running call nor a thread will
 * deliver the lines. The caller holds the lock. */
static void log_thread_start(void) {
  pthread_t thread;

  if (logged.calls || logged.delivering)
    return;
  if (sp_own_thread_start(&thread, "spanprof-log", SP_OWN_STACK_DEFAULT,
                          log_thread, NULL) == 0) {
    sp_own_thread_defer_join(thread);
    logged.delivering = 1;
  }
}

void py_sp_log_write(void *data, spanprof_log_level level,
                     const char *message) {
  (void)data;
  if (py_sp_gil_closed()) {
    if (level >= SPANPROF_LOG_WARN)
      sp_stderr_line(message);
    return;
  }
  pthread_mutex_lock(&logged.lock);
  if (!sp_log_lines_add(level, message))
    logged.lost++;
  log_thread_start();
  pthread_mutex_unlock(&logged.lock);
}

void py_sp_log_begin(void) {
  pthread_mutex_lock(&logged.lock);
  logged.calls++;
  pthread_mutex_unlock(&logged.lock);
}

/* Pending signals are handled before the first line, because their handlers
 * would otherwise interrupt the logger's code instead of the call. */
int py_sp_log_end(void) {
  pthread_mutex_lock(&logged.lock);
  /* `calls` is 0 in a child that was forked during the call. */
  if (logged.calls > 0)
    logged.calls--;
  pthread_mutex_unlock(&logged.lock);
  if (PyErr_CheckSignals() == 0 && log_deliver(0) == 0)
    return 0;
  pthread_mutex_lock(&logged.lock);
  if (logged.pending || logged.lost || sp_log_lines_waiting())
    log_thread_start();
  pthread_mutex_unlock(&logged.lock);
  return -1;
}

void py_sp_log_wait(long ms) {
  struct timespec until;
  int waited = 0;

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += ms % 1000 * 1000000;
  until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&logged.lock);
  while (logged.delivering && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&logged.delivered, &logged.lock, &until);
  pthread_mutex_unlock(&logged.lock);
}

static PyObject *log_to(PyObject *module, PyObject *sink) {
  (void)module;
  if (!PyCallable_Check(sink)) {
    PyErr_SetString(PyExc_TypeError, "the sink of log lines is not callable");
    return NULL;
  }
  Py_INCREF(sink);
  Py_XSETREF(logged.sink, sink);
  Py_RETURN_NONE;
}

static PyObject *log_stderr_line(PyObject *module, PyObject *text) {
  const char *bytes = PyBytes_AsString(text);

  (void)module;
  if (!bytes)
    return NULL;
  sp_stderr_line(bytes);
  Py_RETURN_NONE;
}

static PyMethodDef log_methods[] = {
    {"stderr_line", log_stderr_line, METH_O,
     "stderr_line(bytes): write a line to stderr if that does not block."},
    {"log_to", log_to, METH_O,
     "log_to(callable): pass each log line to callable(level, text)."},
    {NULL, NULL, 0, NULL},
};

int py_sp_log_init(PyObject *module) {
  if (pthread_atfork(log_before_fork, log_after_fork_parent,
                     log_after_fork_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  return PyModule_AddFunctions(module, log_methods);
}
