#include "py_spanprof.h"

PyObject *py_sp_error;

int py_sp_check(spanprof_status status) {
  const char *message = spanprof_last_error();

  if (status == SPANPROF_OK)
    return 1;
  PyErr_SetString(py_sp_error,
                  message[0] ? message : spanprof_status_text(status));
  return 0;
}

static struct PyModuleDef native_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "spanprof._native",
    .m_size = -1,
};

static int native_add_swig(PyObject *module) {
  PyObject *swig = PyInit__swig();
  const int status = swig ? PyModule_AddObjectRef(module, "_swig", swig) : -1;

  Py_XDECREF(swig);
  return status;
}

/* The one symbol that is exported. */
PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
  PyObject *module = PyModule_Create(&native_module);

  if (!module)
    return NULL;
  py_sp_error = PyErr_NewExceptionWithDoc(
      "spanprof.Error",
      "Why profiling did not start; raised only with SPANPROF_REQUIRED=1.",
      PyExc_RuntimeError, NULL);
  if (!py_sp_error || PyModule_AddObjectRef(module, "Error", py_sp_error) < 0 ||
      PyModule_AddStringConstant(module, "version", spanprof_version()) < 0 ||
      native_add_swig(module) < 0 || py_sp_runtime_init(module) < 0 ||
      py_sp_context_init(module) < 0 || py_sp_span_init(module) < 0 ||
      py_sp_otel_context_init(module) < 0 || py_sp_label_init(module) < 0 ||
      py_sp_session_init(module) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
