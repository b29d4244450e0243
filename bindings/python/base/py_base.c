#include "py_base.h"

PyObject *py_sp_error;

int py_sp_check(spanprof_status status) {
  const char *message = spanprof_last_error();

  if (!status)
    return 1;
  PyErr_SetString(py_sp_error,
                  message[0] ? message : spanprof_status_text(status));
  return 0;
}

int py_sp_base_init(PyObject *module) {
  py_sp_error = PyErr_NewExceptionWithDoc(
      "spanprof.Error",
      "Raised if profiling cannot start and SPANPROF_REQUIRED=1 is set.",
      PyExc_RuntimeError, NULL);
  return py_sp_error ? PyModule_AddObjectRef(module, "Error", py_sp_error) : -1;
}
