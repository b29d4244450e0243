/* The base of the Python binding: Python's header and the exception
 * spanprof.Error. The caller of a function of this binding holds the GIL,
 * unless the function's comment says otherwise. */
#ifndef PY_BASE_H
#define PY_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <spanprof/runtime.h>

/* swig/ uses this name for an object of either language, Python or Ruby. */
typedef PyObject *sp_object;

/* spanprof.Error. */
extern PyObject *py_sp_error;

/* Returns true if `status` is SPANPROF_OK. Otherwise sets the exception
 * spanprof.Error with the text of spanprof_last_error() and returns false. */
int py_sp_check(spanprof_status status);

/* Add spanprof.Error to the module. Call py_sp_base_init() once, before the
 * init function of any other part of the binding. All these init functions
 * return 0, or -1 with an exception. */
int py_sp_base_init(PyObject *module);

#endif
