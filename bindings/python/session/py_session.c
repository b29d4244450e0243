#include "py_session.h"

#include <stdbool.h>
#include <stdlib.h>

#include "control.h"
#include "process/py_fork.h"
#include "process/py_gil.h"
#include "process/py_log.h"
#include "process/py_sigterm.h"
#include "py_runtime.h"
#include "session/session.h"
#include "util/system/clock.h"
#include "util/system/own_thread.h"

/* Minimum time for the delivery of log lines at the end of the process. It
 * applies even if the delivery of the last profile used all the time that end()
 * has. */
#define SESSION_LINES_MS 100

/* The options of a session. */
typedef struct session_options {
  spanprof_options core;
  PyObject *kept; /* list that keeps `on_profile` and the objects of the texts
                     in `core` alive */
  PyObject *on_profile; /* NULL: none */
  py_sp_line_numbers line_numbers;
} session_options;

/* The option `on_profile` of the running session. Guarded by the GIL. */
static PyObject *session_on_profile;

/* The options of the running session. They restart it if the session that
 * should replace it cannot start. Guarded by the GIL. */
static session_options session_previous;

/* Pass a profile to `on_profile`. Called on the uploader thread. Its queue of
 * profiles is bounded, so that a slow `on_profile` loses profiles but never
 * delays the program. */
static void session_profile(void *data, const spanprof_profile *profile) {
  PyGILState_STATE state;
  PyObject *callable, *result;

  (void)data;
  if (!py_sp_gil_acquire(&state))
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
  py_sp_gil_release(state);
}

/* Read the options that only Python has: line_numbers and on_profile.
 * spanprof/_options.py has checked them. Returns 0, or -1 with an exception. */
static int session_read_own(session_options *out, PyObject *given) {
  PyObject *lines = PyDict_GetItemString(given, "line_numbers");

  if (lines)
    out->line_numbers = (py_sp_line_numbers)PyLong_AsLong(lines);
  out->on_profile = PyDict_GetItemString(given, "on_profile");
  if (PyErr_Occurred())
    return -1;
  if (!out->on_profile)
    return 0;
  out->core.on_profile = session_profile;
  return PyList_Append(out->kept, out->on_profile);
}

/* Set flush_on_sigterm to true if neither the program nor the environment sets
 * it. Containers are stopped by SIGTERM, which ends Python without exit
 * handlers. The core's own default is false. An empty variable counts as
 * unset. */
static void session_default_sigterm(spanprof_options *options) {
  const char *variable = getenv("PYROSCOPE_FLUSH_ON_SIGTERM");

  if (options->flush_on_sigterm == SPANPROF_UNSET && !(variable && *variable))
    options->flush_on_sigterm = 1;
}

/* Set *out to the options for a session. Returns 0, or -1 with an exception. */
static int session_read(session_options *out,
                        const sp_control_options *options) {
  *out = (session_options){.core = options->core, .kept = options->kept};
  out->core.log = py_sp_log_write;
  session_default_sigterm(&out->core);
  return session_read_own(out, options->given);
}

/* Start a session while no session runs. */
static spanprof_status session_begin(const session_options *given) {
  spanprof_session *session;
  spanprof_status st;

  Py_XINCREF(given->on_profile);
  Py_XSETREF(session_on_profile, given->on_profile);
  Py_BEGIN_ALLOW_THREADS
  py_sp_runtime_set_lines(given->line_numbers);
  st = spanprof_session_start(&given->core, &session);
  Py_END_ALLOW_THREADS
  return st;
}

/* Check the options. If they are valid, stop the running session, if any, and
 * set *stopped to true. */
static spanprof_status session_check(const session_options *given,
                                     bool *stopped) {
  spanprof_session *session;
  spanprof_status st;

  Py_BEGIN_ALLOW_THREADS
  session = spanprof_session_current();
  st = spanprof_options_check(&given->core);
  if (!st && session) {
    spanprof_session_stop(session, PY_SP_SESSION_STOP_MS);
    *stopped = true;
  }
  Py_END_ALLOW_THREADS
  return st;
}

/* Restart the previous session, because the session that should replace it
 * could not start. The current exception, which gives the reason, stays set. */
static void session_resume(void) {
  PyObject *type, *value, *traceback;

  PyErr_Fetch(&type, &value, &traceback);
  if (session_begin(&session_previous))
    py_sp_log_write(NULL, SPANPROF_LOG_ERROR, spanprof_last_error());
  PyErr_Restore(type, value, traceback);
}

/* Returns True or False, or NULL with an exception. Sets *started to whether
 * the new session runs. *started may be true although an exception is returned,
 * if a log handler or a signal handler of the program raised it. */
static PyObject *session_replace(const session_options *given, bool *started) {
  PyObject *type, *value, *traceback;
  bool stopped = false, again = true;
  spanprof_status st;

  py_sp_log_begin();
  do {
    st = session_check(given, &stopped);
    if (!st)
      st = session_begin(given);
    again =
        again &&
        st == SPANPROF_ERR_STATE; /* another thread started a session first */
  } while (again);
  if (st == SPANPROF_ERR_DISABLED)
    py_sp_log_write(NULL, SPANPROF_LOG_INFO, spanprof_last_error());
  else
    py_sp_check(st);
  if (st && stopped && session_previous.kept)
    session_resume();
  *started = !st;
  PyErr_Fetch(&type, &value, &traceback);
  if (py_sp_log_end() < 0) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
  }
  PyErr_Restore(type, value, traceback);
  return type ? NULL : PyBool_FromLong(!st);
}

PyObject *sp_control_start(const sp_control_options *options) {
  session_options given;
  PyObject *done;
  bool started;

  if (session_read(&given, options) < 0 || py_sp_runtime_start() < 0)
    return NULL;
  done = session_replace(&given, &started);
  if (started) {
    Py_INCREF(given.kept);
    Py_XDECREF(session_previous.kept);
    session_previous = given;
  }
  return done;
}

static PyObject *session_wait(uint32_t timeout_ms,
                              spanprof_status (*wait)(spanprof_session *,
                                                      uint32_t)) {
  spanprof_status st;

  py_sp_log_begin();
  Py_BEGIN_ALLOW_THREADS
  st = wait(spanprof_session_current(), timeout_ms);
  Py_END_ALLOW_THREADS
  return py_sp_log_end() < 0 ? NULL : PyBool_FromLong(!st);
}

PyObject *sp_control_flush(uint32_t timeout_ms) {
  return session_wait(timeout_ms, spanprof_session_flush);
}

PyObject *sp_control_stop(uint32_t timeout_ms) {
  return session_wait(timeout_ms, spanprof_session_stop);
}

static PyObject *session_sample(spanprof_status (*sample)(spanprof_session *)) {
  spanprof_status st;

  py_sp_log_begin();
  Py_BEGIN_ALLOW_THREADS
  st = sample(spanprof_session_current());
  Py_END_ALLOW_THREADS
  return py_sp_log_end() < 0 ? NULL : PyBool_FromLong(!st);
}

PyObject *sp_control_pause(void) {
  return session_sample(spanprof_session_pause);
}

PyObject *sp_control_resume(void) {
  return session_sample(spanprof_session_resume);
}

PyObject *sp_control_running(void) {
  return PyBool_FromLong(spanprof_session_running());
}

static long session_clock_ms(void) {
  return (long)(sp_monotonic_ns() / SP_NS_PER_MS);
}

/* end(ms, close). If `close` is true, the process ends, so the session is
 * stopped. Otherwise an exec follows. It may fail, in which case the process
 * continues, so the session is only flushed. */
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
    sp_session_flush_once(spanprof_session_current(), ms);
  left_ms = until_ms - session_clock_ms();
  py_sp_log_wait(left_ms > SESSION_LINES_MS ? left_ms : SESSION_LINES_MS);
  if (close) {
    py_sp_gil_close();
    sp_own_threads_join_deferred(SESSION_LINES_MS * SP_NS_PER_MS);
  }
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyMethodDef session_methods[] = {
    {"end", session_end, METH_VARARGS,
     "end(ms, close): deliver all profiles and log lines before the process "
     "exits or calls exec. If `close` is true, also stop the session and "
     "let no thread of the library use Python any more."},
    {NULL, NULL, 0, NULL},
};

int py_sp_session_init(PyObject *module) {
  return PyModule_AddFunctions(module, session_methods);
}
