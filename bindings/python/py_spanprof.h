/* What the files of the Python binding share. Everything here is called with
 * the GIL unless its comment says otherwise. */
#ifndef PY_SPANPROF_H
#define PY_SPANPROF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <spanprof/runtime.h>

/* What the shared parts of the bindings (swig/) call an object. */
typedef PyObject *sp_object;

/* spanprof.Error. */
extern PyObject *py_sp_error;

/* True where `status` is a success; else spanprof.Error is set with
 * spanprof_last_error(). */
int py_sp_check(spanprof_status status);

/* What swig/spanprof.i lists. The module, a new reference, or its definition, a
 * borrowed one. */
PyObject *PyInit__swig(void);

/* One for each noun: adds what it has to the module spanprof._native; called
 * once, in this order, when the extension loads. 0, or -1 with an exception. */
int py_sp_runtime_init(PyObject *module);
int py_sp_context_init(PyObject *module);
int py_sp_span_init(PyObject *module);
int py_sp_otel_context_init(PyObject *module);
int py_sp_label_init(PyObject *module);
int py_sp_session_init(PyObject *module);
int py_sp_recording_init(PyObject *module);

#endif
