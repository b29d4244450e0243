/* Protocol: the collector's thread starts the temporary thread, and starts no
 * other one while `function_reading` is set. The temporary thread holds the GIL
 * while it reads the functions. A forked child clears `function_reading`,
 * because the temporary thread does not exist there. The arguments of
 * py_sp_function_thread_open() are set before the collector's thread starts. */
#include "py_function_thread.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "process/py_gil.h"
#include "util/system/clock.h"
#include "util/system/own_thread.h"
#include "vm/py_functions.h"

#define FUNCTION_THREAD_NS SP_NS_PER_S

static uint64_t function_eval;
static char function_directory[PATH_MAX];

/* Whether this is a forked child in which CPython has not reinitialized the GIL
 * yet. */
static _Atomic bool function_forked;

static _Atomic bool function_reading; /* whether the temporary thread runs */
static _Atomic uint64_t function_read_ns; /* time of its last start */

static void *function_thread(void *unused) {
  PyGILState_STATE state;

  (void)unused;
  if (py_sp_gil_acquire(&state)) {
    py_sp_functions_read(function_eval, function_directory);
    py_sp_gil_release(state);
  }
  atomic_store(&function_reading, false);
  return NULL;
}

void py_sp_function_thread_open(uint64_t eval, const char *directory) {
  snprintf(function_directory, sizeof function_directory, "%s", directory);
  function_eval = eval;
}

void py_sp_function_thread_read(void) {
  if (function_eval != 0 && py_sp_functions_outdated())
    py_sp_functions_read(function_eval, function_directory);
}

void py_sp_function_thread_request(void) {
  const uint64_t now_ns = sp_monotonic_ns();
  pthread_t thread;

  if (function_eval == 0 || atomic_load(&function_forked) ||
      !py_sp_functions_outdated() || atomic_load(&function_reading) ||
      now_ns - atomic_load(&function_read_ns) < FUNCTION_THREAD_NS ||
      py_sp_gil_closed())
    return;
  atomic_store(&function_read_ns, now_ns);
  atomic_store(&function_reading, true);
  if (sp_own_thread_start(&thread, "spanprof-names", SP_OWN_STACK_DEFAULT,
                          function_thread, NULL) == 0)
    sp_own_thread_defer_join(thread);
  else
    atomic_store(&function_reading, false);
}

static void function_thread_after_fork(void) {
  atomic_store(&function_reading, false);
  atomic_store(&function_forked, true);
}

static PyObject *native_forked(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  atomic_store(&function_forked, false);
  Py_RETURN_NONE;
}

static PyMethodDef function_thread_methods[] = {
    {"forked", native_forked, METH_NOARGS,
     "forked(): allow threads of the library to use Python in this forked "
     "child. os.register_at_fork() calls this function."},
    {NULL, NULL, 0, NULL},
};

int py_sp_function_thread_init(PyObject *module) {
  if (pthread_atfork(NULL, NULL, function_thread_after_fork) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  if (py_sp_functions_init() < 0)
    return -1;
  return PyModule_AddFunctions(module, function_thread_methods);
}
