#include "py_spanprof.h"

PyObject *py_sp_error;

int py_sp_check(spanprof_status status) {
  const char *message = spanprof_last_error();

  if (!status)
    return 1;
  PyErr_SetString(py_sp_error,
                  message[0] ? message : spanprof_status_text(status));
  return 0;
}

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

static PyObject *native_new(void) {
  PyObject *module = PyModule_New("spanprof._native");

  if (!module)
    return NULL;
  py_sp_error = PyErr_NewExceptionWithDoc(
      "spanprof.Error",
      "Why profiling did not start; raised only with SPANPROF_REQUIRED=1.",
      PyExc_RuntimeError, NULL);
  if (!py_sp_error || PyModule_AddObjectRef(module, "Error", py_sp_error) < 0 ||
      native_add_swig(module) < 0 || py_sp_runtime_init(module) < 0 ||
      py_sp_context_init(module) < 0 || py_sp_span_init(module) < 0 ||
      py_sp_otel_context_init(module) < 0 || py_sp_label_init(module) < 0 ||
      py_sp_session_init(module) < 0 || py_sp_recording_init(module) < 0) {
    Py_DECREF(module);
    return NULL;
  }
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

/* The one symbol that is exported. */
PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
  return PyModuleDef_Init(&native_definition);
}
