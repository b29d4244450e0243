#include "py_utf8.h"

const char *py_sp_utf8(PyObject *value, size_t *bytes, PyObject **keep) {
  PyObject *text =
      PyUnicode_CheckExact(value) ? Py_NewRef(value) : PyObject_Str(value);
  const char *utf8 = NULL;
  Py_ssize_t size;

  *keep = NULL;
  if (!text)
    return NULL;
  utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8) {
    *keep = text;
  } else if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    *keep = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    Py_DECREF(text);
    if (!*keep)
      return NULL;
    utf8 = PyBytes_AS_STRING(*keep);
    size = PyBytes_GET_SIZE(*keep);
  } else {
    Py_DECREF(text);
    return NULL;
  }
  *bytes = (size_t)size;
  return utf8;
}
