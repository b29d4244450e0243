#include "py_runtime.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/py_version.h"
#include "base/py_warning.h"
#include "context/py_context.h"
#include "memory/py_space.h"
#include "py_function_thread.h"
#include "util/base.h"
#include "vm/py_code.h"
#include "vm/py_eval.h"
#include "vm/py_functions.h"
#include "vm/py_lines.h"
#include "vm/py_prefetch.h"
#include "vm/py_record.h"
#include "vm/py_selftest.h"

#define RUNTIME_REASON_BYTES 256

/* Whether the signal handler may read the interpreter's frames. */
SP_HANDLER_DATA static _Atomic bool runtime_open;

/* The line that frames show, by an option of the session. Read by the collector
 * thread. */
static _Atomic py_sp_line_numbers runtime_line_numbers;

/* Guarded by the GIL. */
static struct {
  bool tested; /* the self-test has finished, and `reason` does not change any
                  more */
  bool registered;
  bool over; /* the interpreter is being finalized */
  char reason[RUNTIME_REASON_BYTES];
  char version[32];
  PyObject *stop; /* the module's function runtime_stop(), owned */
} runtime_state;

/* Returns the PyThreadState of the interrupted thread. Returns NULL if the
 * thread has none, or if the handler may not read frames. */
SP_HANDLER_CODE static const PyThreadState *thread_state(void) {
  return atomic_load_explicit(&runtime_open, memory_order_seq_cst)
             ? py_sp_walk_thread()
             : NULL;
}

SP_HANDLER_CODE static size_t runtime_walk(void *data,
                                           const spanprof_capture *capture,
                                           spanprof_frame *frames, size_t max,
                                           int *cut) {
  const PyThreadState *thread;
  size_t count = 0;

  (void)data;
  py_sp_space_enter();
  thread = thread_state();
  if (thread)
    count = py_sp_walk(thread, capture, frames, max, cut);
  py_sp_space_leave();
  return count;
}

/* Also stops stack walks once the interpreter is being finalized: the program
 * may have cleared the hooks of atexit, so that runtime_stop() is not
 * called. */
static void runtime_normalize(void *data, spanprof_frame *frames,
                              size_t count) {
  (void)data;
  if (py_sp_version_finalizing())
    atomic_store(&runtime_open, false);
  py_sp_walk_set_lines(frames, count, atomic_load(&runtime_line_numbers));
}

static spanprof_status runtime_resolve(void *data, const spanprof_frame *frame,
                                       spanprof_name *out) {
  (void)data;
  if (py_sp_functions_is(frame->code))
    return py_sp_functions_name(frame->code, out);
  out->line = frame->offset;
  return py_sp_record_name(frame->code, out);
}

static uint64_t runtime_native_function(void *data, uint64_t start) {
  (void)data;
  return py_sp_functions_find(start);
}

static uint64_t runtime_native_functions_version(void *data) {
  (void)data;
  if (atomic_load(&runtime_open))
    py_sp_function_thread_request();
  return py_sp_functions_version();
}

SP_HANDLER_CODE static int runtime_read_context(void *data,
                                                const spanprof_capture *capture,
                                                spanprof_context_view *out) {
  const PyThreadState *thread;
  int read = 0;

  (void)data;
  py_sp_space_enter();
  thread = thread_state();
  if (thread) {
    py_sp_prefetch_begin(thread);
    py_sp_walk_prefetch(thread);
    read = py_sp_context_read((void *)(uintptr_t)thread, capture, out);
  }
  py_sp_space_leave();
  return read;
}

/* Returns whether this extension was compiled for this interpreter. */
static bool version_fits(void) {
  int major = 0, minor = 0, micro = 0;

  sscanf(Py_GetVersion(), "%d.%d.%d", &major, &minor, &micro);
  snprintf(runtime_state.version, sizeof runtime_state.version, "%d.%d.%d",
           major, minor, micro);
  if (major != PY_MAJOR_VERSION || minor != PY_MINOR_VERSION) {
    snprintf(runtime_state.reason, sizeof runtime_state.reason,
             "Python %s loaded an extension compiled for Python %d.%d: "
             "reinstall spanprof with this Python",
             runtime_state.version, PY_MAJOR_VERSION, PY_MINOR_VERSION);
    return false;
  }
  /* 3.11.0 unlinks frames after it has freed them:
   * https://github.com/python/cpython/issues/99729. */
  if (minor == 11 && micro == 0) {
    snprintf(runtime_state.reason, sizeof runtime_state.reason,
             "Python 3.11.0 frees frames that are still linked, so samples "
             "could be wrong; use 3.11.1 or later");
    return false;
  }
  if (PY_SP_VERSION_FREE_THREADED)
    snprintf(runtime_state.reason, sizeof runtime_state.reason,
             "free-threaded Python (%s) is not supported",
             runtime_state.version);
  return !PY_SP_VERSION_FREE_THREADED;
}

/* The self-test failed with an exception. Store an ordinary exception as
 * `reason` and return 0; the next call of runtime_test() tests again. Return -1
 * if the exception must end the thread or the program, and so must
 * propagate. */
static int runtime_interrupted(const char *what) {
  char text[128];

  if (!py_sp_error_is_ordinary())
    return -1;
  py_sp_error_consume(text, sizeof text);
  snprintf(runtime_state.reason, sizeof runtime_state.reason, "%s: %s", what,
           text);
  return 0;
}

/* Run the self-test unless it has finished before. Returns 0, or -1 with an
 * exception that must end the thread or the program. */
static int runtime_test(void) {
  if (runtime_state.tested)
    return 0;
  runtime_state.reason[0] = '\0';
  if (version_fits()) {
    if (py_sp_code_open() < 0) {
      snprintf(runtime_state.reason, sizeof runtime_state.reason,
               "not enough memory for the names of functions");
      return 0;
    }
    switch (
        py_sp_selftest_run(runtime_state.reason, sizeof runtime_state.reason)) {
    case -1:
      return runtime_interrupted("the self-test was interrupted");
    case 1:
      if (!py_sp_context_check())
        snprintf(runtime_state.reason, sizeof runtime_state.reason, "%s",
                 py_sp_context_reason());
    }
  }
  runtime_state.tested = true;
  return 0;
}

/* Set *out to the reason, one sentence, if this interpreter cannot be profiled,
 * or to NULL if it can. Returns 0, or -1 with an exception that must end the
 * thread or the program. */
static int runtime_reason(const char **out) {
  if (runtime_test() < 0)
    return -1;
  if (runtime_state.reason[0])
    *out = runtime_state.reason;
  else
    *out = runtime_state.over ? "the interpreter is being finalized" : NULL;
  return 0;
}

/* Register runtime_stop() with atexit, so that stack walks stop before the
 * interpreter frees the states of threads that still run. Returns 0, or -1 with
 * an exception. */
static int runtime_stop_at_exit(void) {
  PyObject *atexit = PyImport_ImportModule("atexit");
  PyObject *done = NULL;
  char text[128];

  if (atexit)
    done = PyObject_CallMethod(atexit, "register", "O", runtime_state.stop);
  Py_XDECREF(atexit);
  Py_XDECREF(done);
  if (done)
    return 0;
  if (py_sp_error_is_ordinary()) {
    py_sp_error_consume(text, sizeof text);
    PyErr_Format(py_sp_error, "cannot register with atexit: %s", text);
  }
  return -1;
}

/* Returns whether the just-in-time compiler is or may be on. The interpreter
 * decides this at its start. From 3.14 on, sys._jit reports it
 * (https://docs.python.org/3/library/sys.html#sys._jit); on 3.13, this function
 * returns true because it is unknown. */
static bool runtime_compiles(void) {
  PyObject *jit, *has = NULL;
  bool compiles;

  if (!PY_SP_VERSION_JIT)
    return false;
  jit = PySys_GetObject("_jit");
  if (jit)
    has = PyObject_CallMethod(jit, "is_enabled", NULL);
  compiles = has != Py_False;
  Py_XDECREF(has);
  PyErr_Clear();
  return compiles;
}

/* Write the directory of the standard library's extension modules, or "" if it
 * is not known. Some builds link a part of these modules into the interpreter.
 */
static void runtime_library_directory(char *out, size_t size) {
  PyObject *prefix = PySys_GetObject("base_exec_prefix");
  PyObject *library = PySys_GetObject("platlibdir");
  PyObject *path = NULL;
  const char *text = NULL;

  out[0] = '\0';
  if (prefix && library)
    path = PyUnicode_FromFormat("%U/%U/python%d.%d/lib-dynload", prefix,
                                library, PY_MAJOR_VERSION, PY_MINOR_VERSION);
  if (path)
    text = PyUnicode_AsUTF8(path);
  if (text && strlen(text) < size)
    strcpy(out, text);
  Py_XDECREF(path);
  PyErr_Clear();
}

/* Register the interpreter with the core. Returns 0, or -1 with an
 * exception. */
static int runtime_register(void) {
  char library_directory[PATH_MAX];
  spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX];
  spanprof_runtime runtime = {
      .struct_size = sizeof runtime,
      .name = "python",
      .version = runtime_state.version,
      .walk = runtime_walk,
      .read_context = runtime_read_context,
      .resolve = runtime_resolve,
      .normalize = runtime_normalize,
      .eval_ranges = ranges,
      .library_directory = library_directory,
      .native_function = runtime_native_function,
      .native_functions_version = runtime_native_functions_version,
  };

  runtime_library_directory(library_directory, sizeof library_directory);
  runtime.eval_range_count = py_sp_eval_find(ranges);
  if (runtime.eval_range_count > 0)
    py_sp_function_thread_open(ranges[0].start, library_directory);
  if (!runtime_compiles())
    py_sp_walk_set_loop(ranges, runtime.eval_range_count);
  if (runtime_stop_at_exit() < 0)
    return -1;
  if (pthread_atfork(NULL, NULL, py_sp_code_after_fork) != 0) {
    PyErr_SetString(py_sp_error, "not enough memory for fork handlers");
    return -1;
  }
  return py_sp_check(spanprof_runtime_register(&runtime)) ? 0 : -1;
}

void py_sp_runtime_set_lines(py_sp_line_numbers which) {
  atomic_store(&runtime_line_numbers, which);
}

int py_sp_runtime_start(void) {
  const char *reason;

  if (runtime_reason(&reason) < 0)
    return -1;
  if (reason) {
    PyErr_SetString(py_sp_error, reason);
    return -1;
  }
  if (!runtime_state.registered && runtime_register() < 0)
    return -1;
  runtime_state.registered = true;
  py_sp_function_thread_read();
  atomic_store(&runtime_open, true);
  return 0;
}

void py_sp_runtime_stop(void) {
  runtime_state.over = true;
  atomic_store(&runtime_open, false);
  py_sp_space_quiesce();
}

static PyObject *native_unavailable_reason(PyObject *module, PyObject *unused) {
  const char *reason;

  (void)module;
  (void)unused;
  if (runtime_reason(&reason) < 0)
    return NULL;
  if (!reason)
    Py_RETURN_NONE;
  return PyUnicode_FromString(reason);
}

static PyObject *native_runtime_stop(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  py_sp_runtime_stop();
  Py_RETURN_NONE;
}

static PyObject *native_runtime_stats(PyObject *module, PyObject *unused) {
  const py_sp_code_counts counts = py_sp_code_count();

  (void)module;
  (void)unused;
  return Py_BuildValue(
      "{sKsKsKsK}", "code_objects", (unsigned long long)counts.known,
      "code_bytes", (unsigned long long)counts.bytes, "code_overflows",
      (unsigned long long)counts.overflowed, "code_spaces_emptied",
      (unsigned long long)py_sp_space_emptied());
}

/* For tests: returns the lines of a code object as samples show them. */
static PyObject *native_runtime_lines(PyObject *module, PyObject *code) {
  py_sp_line_run *runs = NULL;
  PyObject *table, *list = NULL;
  size_t count, i;

  (void)module;
  if (!PyCode_Check(code))
    return PyErr_Format(PyExc_TypeError, "a code object is needed");
  table = ((PyCodeObject *)code)->co_linetable;
  for (;;) {
    count = py_sp_lines_read((const uint8_t *)PyBytes_AS_STRING(table),
                             (size_t)PyBytes_GET_SIZE(table),
                             ((PyCodeObject *)code)->co_firstlineno, runs);
    if (runs)
      break;
    runs = PyMem_Calloc(count, sizeof *runs);
    if (!runs)
      return PyErr_NoMemory();
  }
  list = PyList_New(0);
  for (i = 0; list && i < count; i++) {
    PyObject *run = Py_BuildValue("II", runs[i].unit, runs[i].line);

    if (!run || PyList_Append(list, run) < 0)
      Py_CLEAR(list);
    Py_XDECREF(run);
  }
  PyMem_Free(runs);
  return list;
}

static PyMethodDef runtime_methods[] = {
    {"unavailable_reason", native_unavailable_reason, METH_NOARGS,
     "unavailable_reason(): return why this interpreter cannot be profiled, in "
     "one sentence, or None."},
    {"runtime_stop", native_runtime_stop, METH_NOARGS,
     "runtime_stop(): stop reading frames before the interpreter is "
     "finalized."},
    {"runtime_stats", native_runtime_stats, METH_NOARGS,
     "runtime_stats(): return the counters about code objects, by name."},
    {"runtime_lines", native_runtime_lines, METH_O,
     "runtime_lines(code): return [(instruction unit, line)], for tests."},
    {NULL, NULL, 0, NULL},
};

int py_sp_runtime_init(PyObject *module) {
  if (py_sp_function_thread_init(module) < 0)
    return -1;
  if (PyModule_AddFunctions(module, runtime_methods) < 0)
    return -1;
  runtime_state.stop = PyObject_GetAttrString(module, "runtime_stop");
  return runtime_state.stop ? 0 : -1;
}
