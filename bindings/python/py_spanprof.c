#include "py_spanprof.h"

#include "base/py_base.h"
#include "context/py_context.h"
#include "context/py_label.h"
#include "process/py_fork.h"
#include "process/py_gil.h"
#include "process/py_log.h"
#include "process/py_sigterm.h"
#include "session/py_recording.h"
#include "session/py_runtime.h"
#include "session/py_session.h"
#include "span/py_otel_context.h"
#include "span/py_span.h"
#include "span/py_span_rules.h"

/* SWIG up to 4.3 gives the module, later the definition of one, which an
 * importer makes (PEP 489): by the spec's class where every interpreter has it,
 * since importlib would be brought in. A new reference. */
static PyObject *native_new_swig(void) {
  PyObject *made = PyInit__swig(), *machinery, *spec, *module = NULL;

  if (!made || !PyObject_TypeCheck(made, &PyModuleDef_Type))
    return made;
  machinery = PyImport_ImportModule("_frozen_importlib");
  spec = machinery ? PyObject_CallMethod(machinery, "ModuleSpec", "sO",
                                         "spanprof._native._swig", Py_None)
                   : NULL;
  if (spec)
    module = PyModule_FromDefAndSpec((PyModuleDef *)made, spec);
  if (module && PyModule_ExecDef(module, (PyModuleDef *)made) < 0)
    Py_CLEAR(module);
  Py_XDECREF(spec);
  Py_XDECREF(machinery);
  return module;
}

/* Its functions and constants become the module's own. */
static int native_add_swig(PyObject *module) {
  PyObject *swig = native_new_swig();
  const int status =
      swig ? PyDict_Merge(PyModule_GetDict(module), PyModule_GetDict(swig), 0)
           : -1;

  Py_XDECREF(swig);
  return status;
}

/* The parts of the binding, in the order in which they are added. */
static int (*const native_parts[])(PyObject *module) = {
    py_sp_base_init,         native_add_swig,      py_sp_runtime_init,
    py_sp_context_init,      py_sp_span_init,      py_sp_span_rules_init,
    py_sp_otel_context_init, py_sp_label_init,     py_sp_gil_init,
    py_sp_log_init,          py_sp_fork_init,      py_sp_sigterm_init,
    py_sp_session_init,      py_sp_recording_init,
};

static PyObject *native_new(void) {
  PyObject *module = PyModule_New("spanprof._native");
  size_t i;

  for (i = 0; module && i < sizeof native_parts / sizeof *native_parts; i++)
    if (native_parts[i](module) < 0)
      Py_CLEAR(module);
  return module;
}

/* Whether this interpreter has had `native`, by a mark that ends with it. -1
 * with an exception. */
static int native_known(const PyObject *native) {
  static const char mark[] = "spanprof._native";
  PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());

  if (!dict)
    return 1;
  return native ? PyDict_GetItemString(dict, mark) != NULL
                : PyDict_SetItemString(dict, mark, Py_True);
}

/* The one module of the process, which is the main interpreter's: its state is
 * in C, and what a signal interrupts has one interpreter's frames. */
static PyObject *native_create(PyObject *spec, PyModuleDef *definition) {
  static PyObject *native;
  int known;

  (void)spec;
  (void)definition;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "only the main interpreter of a process is profiled, and "
                    "this is another (mod_wsgi: WSGIApplicationGroup "
                    "%{GLOBAL})");
    return NULL;
  }
  known = native_known(native);
  if (native && !known)
    PyErr_SetString(PyExc_NotImplementedError,
                    "only the first interpreter of a process is profiled, and "
                    "Py_Finalize() has ended it");
  if (known < 0 || (native && !known))
    return NULL;
  if (!native)
    native = native_new();
  return Py_XNewRef(native);
}

static PyModuleDef_Slot native_slots[] = {
    {Py_mod_create, (void *)native_create},
/* So that it is this module that says what it thinks of other interpreters. */
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef native_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "spanprof._native",
    .m_slots = native_slots,
};

PyMODINIT_FUNC PyInit__native(void) {
  return PyModuleDef_Init(&native_definition);
}
