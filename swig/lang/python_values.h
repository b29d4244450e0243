/* Conversions of the SWIG module that take more than a line, for Python. */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include "py_spanprof.h"

#include "stats_fields.h"

/* Of a str, as UTF-8, or of bytes; valid while `object` is. NULL with
 * TypeError or UnicodeEncodeError. */
static inline char *values_text(PyObject *object, size_t *bytes) {
  Py_ssize_t length = 0;
  char *text = NULL;

  if (PyUnicode_Check(object))
    text = (char *)PyUnicode_AsUTF8AndSize(object, &length);
  else
    PyBytes_AsStringAndSize(object, &text, &length);
  *bytes = (size_t)length;
  return text;
}

/* 0, or -1 with an exception. Takes over the reference to `value`. */
static inline int values_put(PyObject *dict, const char *name,
                             PyObject *value) {
  const int status = value ? PyDict_SetItemString(dict, name, value) : -1;

  Py_XDECREF(value);
  return status;
}

static inline PyObject *values_histogram(const spanprof_stats *stats) {
  PyObject *list = PyList_New(SPANPROF_HANDLER_BUCKETS);
  size_t i;

  for (i = 0; list && i < SPANPROF_HANDLER_BUCKETS; i++) {
    PyObject *count = PyLong_FromUnsignedLongLong(stats->handler_histogram[i]);

    if (!count)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, (Py_ssize_t)i, count);
  }
  return list;
}

static inline PyObject *values_stats(const spanprof_stats *stats) {
  PyObject *dict = PyDict_New();
  size_t i;

  for (i = 0; dict && i < STATS_FIELDS; i++) {
    if (values_put(dict, stats_fields[i].name,
                   PyLong_FromUnsignedLongLong(stats_value(stats, i))) < 0)
      Py_CLEAR(dict);
  }
  if (dict &&
      values_put(dict, "handler_histogram", values_histogram(stats)) < 0)
    Py_CLEAR(dict);
  return dict;
}

#endif
