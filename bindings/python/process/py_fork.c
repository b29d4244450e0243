#include "py_fork.h"

#include "util/system/own_thread.h"

static PyObject *module_only_own_threads(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(sp_own_threads_only());
}

static PyMethodDef fork_methods[] = {
    {"only_own_threads", module_only_own_threads, METH_NOARGS,
     "only_own_threads(): return whether all other threads of this process "
     "belong to the library."},
    {NULL, NULL, 0, NULL},
};

int py_sp_fork_init(PyObject *module) {
  return PyModule_AddFunctions(module, fork_methods);
}
