#include "py_session.h"

#include "py_command.h"
#include "py_fork.h"
#include "py_gate.h"
#include "py_log.h"
#include "py_options.h"
#include "py_runtime.h"
#include "py_sigterm.h"

#include <stdbool.h>
#include <time.h>

/* What lines get at the end, however long the last profile took. */
#define SESSION_SETTLE_MS 100

/* The callable of the running session; with the GIL. */
static PyObject *session_on_profile;

/* What it was started with, to start it again where another cannot be; with the
 * GIL. */
static PyObject *session_given;

/* On the uploading thread. A queue that waits for Python is bounded, so what
 * the callable takes long for costs profiles, never the application. */
static void session_profile(void *data, const spanprof_profile_view *profile) {
  PyGILState_STATE state;
  PyObject *callable, *result;

  (void)data;
  if (!py_sp_gate_enter(&state))
    return;
  callable = Py_XNewRef(session_on_profile);
  if (callable) {
    result = PyObject_CallFunction(
        callable, "y#KK", (const char *)profile->bytes,
        (Py_ssize_t)profile->size_bytes, (unsigned long long)profile->time_ns,
        (unsigned long long)profile->duration_ns);
    if (!result)
      PyErr_WriteUnraisable(callable);
    Py_XDECREF(result);
    Py_DECREF(callable);
  }
  py_sp_gate_leave(state);
}

/* What the library calls is ours. */
static void session_complete(py_sp_options *given) {
  given->options.log = py_sp_log_write;
  if (given->on_profile)
    given->options.on_profile = session_profile;
}

/* Nothing may run. */
static spanprof_status session_begin(const py_sp_options *given) {
  spanprof_session *session;
  spanprof_status st;

  Py_XINCREF(given->on_profile);
  Py_XSETREF(session_on_profile, given->on_profile);
  Py_BEGIN_ALLOW_THREADS
  py_sp_runtime_set_lines(given->line_numbers);
  st = spanprof_session_start(&given->options, &session);
  Py_END_ALLOW_THREADS
  return st;
}

/* *stopped becomes true where a session ran that does no longer. */
static spanprof_status session_check(const py_sp_options *given,
                                     bool *stopped) {
  spanprof_session *session;
  spanprof_status st;

  Py_BEGIN_ALLOW_THREADS
  session = spanprof_session_current();
  st = spanprof_options_check(&given->options);
  if (st == SPANPROF_OK && session) {
    spanprof_session_stop(session, PY_SP_SESSION_STOP_MS);
    *stopped = true;
  }
  Py_END_ALLOW_THREADS
  return st;
}

/* What ran before the one that was refused; the sentence about that stays. */
static void session_resume(void) {
  PyObject *type, *value, *traceback;
  py_sp_options before;

  PyErr_Fetch(&type, &value, &traceback);
  if (py_sp_options_read(&before, session_given) == 0) {
    session_complete(&before);
    if (session_begin(&before) != SPANPROF_OK)
      py_sp_log_write(NULL, SPANPROF_LOG_ERROR, spanprof_last_error());
  }
  py_sp_options_dispose(&before);
  PyErr_Restore(type, value, traceback);
}

/* True or False, or NULL with an exception; what handlers of the log do
 * meanwhile changes nothing of it. */
static PyObject *session_replace(const py_sp_options *given) {
  PyObject *type, *value, *traceback;
  bool stopped = false, again = true;
  spanprof_status st;

  py_sp_log_begin();
  do {
    st = session_check(given, &stopped);
    if (st == SPANPROF_OK)
      st = session_begin(given);
    again = again && st == SPANPROF_ERR_STATE; /* another thread was first */
  } while (again);
  if (st == SPANPROF_ERR_DISABLED)
    py_sp_log_write(NULL, SPANPROF_LOG_INFO, spanprof_last_error());
  else
    py_sp_check(st);
  if (st != SPANPROF_OK && stopped && session_given)
    session_resume();
  PyErr_Fetch(&type, &value, &traceback);
  py_sp_log_end();
  PyErr_Restore(type, value, traceback);
  return type ? NULL : PyBool_FromLong(st == SPANPROF_OK);
}

static PyObject *session_start(PyObject *module, PyObject *dictionary) {
  py_sp_options given;
  PyObject *done = NULL, *copy = NULL;

  (void)module;
  if (py_sp_options_read(&given, dictionary) < 0 || py_sp_runtime_start() < 0)
    goto cleanup;
  copy = PyDict_Copy(dictionary);
  if (!copy)
    goto cleanup;
  session_complete(&given);
  done = session_replace(&given);
  if (done == Py_True)
    Py_XSETREF(session_given, Py_NewRef(copy));
cleanup:
  Py_XDECREF(copy);
  py_sp_options_dispose(&given);
  return done;
}

static PyObject *session_wait(PyObject *timeout_ms,
                              spanprof_status (*wait)(spanprof_session *,
                                                      uint32_t)) {
  unsigned long ms = PyLong_AsUnsignedLong(timeout_ms);
  spanprof_status st;

  if (PyErr_Occurred())
    return NULL;
  if (ms > UINT32_MAX)
    ms = UINT32_MAX;
  py_sp_log_begin();
  Py_BEGIN_ALLOW_THREADS
  st = wait(spanprof_session_current(), (uint32_t)ms);
  Py_END_ALLOW_THREADS
  py_sp_log_end();
  return PyBool_FromLong(st == SPANPROF_OK);
}

static PyObject *session_flush(PyObject *module, PyObject *timeout_ms) {
  (void)module;
  return session_wait(timeout_ms, spanprof_session_flush);
}

static PyObject *session_stop(PyObject *module, PyObject *timeout_ms) {
  (void)module;
  return session_wait(timeout_ms, spanprof_session_stop);
}

/* Without the GIL: a start or a stop holds the session's lock from end to
 * end. */
static PyObject *session_running(PyObject *module, PyObject *unused) {
  const spanprof_session *session;

  (void)module;
  (void)unused;
  Py_BEGIN_ALLOW_THREADS
  session = spanprof_session_current();
  Py_END_ALLOW_THREADS
  return PyBool_FromLong(session != NULL);
}

static long session_clock_ms(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* The end of the process or, where an exec fails, only a flush. */
static PyObject *session_end(PyObject *module, PyObject *arguments) {
  unsigned int ms;
  int close;
  long until_ms, left_ms;

  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ip", &ms, &close))
    return NULL;
  Py_BEGIN_ALLOW_THREADS
  until_ms = session_clock_ms() + (long)ms;
  if (close)
    spanprof_session_stop(spanprof_session_current(), ms);
  else
    spanprof_session_flush(spanprof_session_current(), ms);
  left_ms = until_ms - session_clock_ms();
  py_sp_log_settle(left_ms > SESSION_SETTLE_MS ? left_ms : SESSION_SETTLE_MS);
  if (close)
    py_sp_gate_close();
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyMethodDef session_methods[] = {
    {"start", session_start, METH_O,
     "start(options): profile from now on; False where the environment has "
     "switched it off, else spanprof.Error says why not."},
    {"flush", session_flush, METH_O,
     "flush(ms): hand on what there is; whether it was done in time."},
    {"stop", session_stop, METH_O,
     "stop(ms): hand on what there is and end; whether nothing was lost."},
    {"running", session_running, METH_NOARGS,
     "running(): whether a session runs in this process."},
    {"end", session_end, METH_VARARGS,
     "end(ms, close): hand on what there is, lines too, as the process ends; "
     "with close, stop and let no thread of the library into Python again."},
    {NULL, NULL, 0, NULL},
};

int py_sp_session_init(PyObject *module) {
  if (py_sp_gate_init() < 0 || py_sp_log_init(module) < 0 ||
      py_sp_command_init(module) < 0 || py_sp_fork_init(module) < 0 ||
      py_sp_sigterm_init(module) < 0)
    return -1;
  return PyModule_AddFunctions(module, session_methods);
}
