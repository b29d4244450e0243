/* The base of the Python binding: Python's header and the binding's error. The
 * caller holds the GIL, in this binding, unless a comment says otherwise. */
#ifndef PY_BASE_H
#define PY_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <spanprof/runtime.h>

/* The name that swig/ uses for an object of the language. */
typedef PyObject *sp_object;

/* spanprof.Error. */
extern PyObject *py_sp_error;

/* True where `status` is a success; else spanprof.Error is set with
 * spanprof_last_error(). */
int py_sp_check(spanprof_status status);

/* Adds spanprof.Error to the module. Once, before any other part of the
 * binding. 0, or -1 with an exception, as all that follow. */
int py_sp_base_init(PyObject *module);

#endif
