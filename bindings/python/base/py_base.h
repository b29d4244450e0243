/* The base of the Python binding: Python's header and the binding's exception.
 * All functions of this binding need the GIL unless their comment says
 * otherwise. */
#ifndef PY_BASE_H
#define PY_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <spanprof/runtime.h>

/* The language-independent name that swig/ uses for an object. */
typedef PyObject *sp_object;

/* spanprof.Error. */
extern PyObject *py_sp_error;

/* Returns true if `status` is a success. Otherwise raises spanprof.Error with
 * spanprof_last_error(). */
int py_sp_check(spanprof_status status);

/* Add spanprof.Error to the module. Call it once, before any other part of the
 * binding. Returns 0, or -1 with an exception, as all following functions
 * do. */
int py_sp_base_init(PyObject *module);

#endif
