#include "py_warning.h"

#include <stdarg.h>
#include <stdio.h>

static void warning_log(const char *message) {
  PyObject *logging = PyImport_ImportModule("spanprof._logging"), *done = NULL;

  if (logging)
    done = PyObject_CallMethod(logging, "receive", "is", SPANPROF_LOG_WARN,
                               message);
  if (!done)
    PyErr_WriteUnraisable(logging);
  Py_XDECREF(done);
  Py_XDECREF(logging);
}

void py_sp_warn(const char *format, ...) {
  PyObject *type, *value, *traceback;
  char message[512];
  va_list args;

  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  PyErr_Fetch(&type, &value, &traceback);
  warning_log(message);
  PyErr_Restore(type, value, traceback);
}

int py_sp_error_is_ordinary(void) {
  return PyErr_ExceptionMatches(PyExc_Exception);
}

void py_sp_error_consume(char *buffer, size_t size) {
  PyObject *type, *value, *traceback, *text;
  const char *bytes = NULL;

  PyErr_Fetch(&type, &value, &traceback);
  text = value ? PyObject_Str(value) : NULL;
  if (text)
    bytes = PyUnicode_AsUTF8(text);
  snprintf(buffer, size, "%s: %s",
           type ? ((PyTypeObject *)type)->tp_name : "no error",
           bytes ? bytes : "");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}
