#include "py_spanprof.h"

#include "base/py_version.h"
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

static const char native_name[] = "spanprof._native";

/* Create the module that SWIG generates. PyInit__swig() returns the module
 * itself if SWIG up to 4.3 generated it, otherwise a definition (PEP 489).
 * Returns a new reference, or NULL with an exception. */
static PyObject *native_new_swig(PyObject *spec) {
  PyObject *made = PyInit__swig(), *module;
  PyModuleDef *definition;

  if (!made || !PyObject_TypeCheck(made, &PyModuleDef_Type))
    return made;
  definition = (PyModuleDef *)made;
  module = PyModule_FromDefAndSpec(definition, spec);
  if (module && PyModule_ExecDef(module, definition) < 0)
    Py_CLEAR(module);
  return module;
}

/* The initializers of the binding's parts, in calling order. */
static int (*const native_parts[])(PyObject *module) = {
    py_sp_base_init,      py_sp_runtime_init,    py_sp_context_init,
    py_sp_span_init,      py_sp_span_rules_init, py_sp_otel_context_init,
    py_sp_label_init,     py_sp_gil_init,        py_sp_log_init,
    py_sp_fork_init,      py_sp_sigterm_init,    py_sp_session_init,
    py_sp_recording_init,
};

static PyObject *native_new(PyObject *spec) {
  PyObject *module = native_new_swig(spec);
  size_t i;

  if (module && PyModule_AddStringConstant(module, "__name__", native_name) < 0)
    Py_CLEAR(module);
  for (i = 0; module && i < sizeof native_parts / sizeof *native_parts; i++)
    if (native_parts[i](module) < 0)
      Py_CLEAR(module);
  return module;
}

/* If `native` is NULL, note in the dict of this interpreter that it has loaded
 * the module, and return 0; the dict is freed with the interpreter. Otherwise
 * return whether the dict has this note. Returns -1 with an exception on
 * failure. */
static int native_known(const PyObject *native) {
  PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());

  if (!dict)
    return 1;
  return native ? PyDict_GetItemString(dict, native_name) != NULL
                : PyDict_SetItemString(dict, native_name, Py_True);
}

/* Create the only module of the process, for the main interpreter. Other
 * interpreters cannot have one, because the module's state is in static C
 * variables and the signal handler reads the frames of one interpreter only. */
static PyObject *native_create(PyObject *spec, PyModuleDef *definition) {
  static PyObject *native;
  int known;

  (void)definition;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "only the main interpreter of a process is profiled, and "
                    "this is a subinterpreter (with mod_wsgi, set "
                    "WSGIApplicationGroup %{GLOBAL})");
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
    native = native_new(spec);
  return Py_XNewRef(native);
}

static PyModuleDef_Slot native_slots[] = {
    {Py_mod_create, (void *)native_create},
    PY_SP_VERSION_INTERPRETERS_SLOT,
    {0, NULL},
};

static struct PyModuleDef native_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = native_name,
    .m_slots = native_slots,
};

PyMODINIT_FUNC PyInit__native(void) {
  return PyModuleDef_Init(&native_definition);
}
