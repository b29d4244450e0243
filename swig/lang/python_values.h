/* Conversions between the SWIG module and Python. */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <stdbool.h>
#include <string.h>

#include "base/py_base.h"
#include "stats_fields.h"

#define VALUES_KIND    ""
#define VALUES_TEXT    "text"
#define VALUES_PATH    "a path"
#define VALUES_NUMBER  "a whole number"
#define VALUES_SWITCH  "True or False"
#define VALUES_MAPPING "a dict"
#define VALUES_PAIRS   "text or a dict"

typedef bool (*values_entry)(void *data, PyObject *key, PyObject *value);

static inline bool values_refuse(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  PyErr_FormatV(py_sp_error, format, arguments);
  va_end(arguments);
  return false;
}

static inline bool values_refuse_name(PyObject *name) {
  PyErr_Format(py_sp_error, "there is no option %R", name);
  return false;
}

static inline const char *values_class(PyObject *value) {
  return Py_TYPE(value)->tp_name;
}

static inline PyObject *values_owner_new(void) {
  return PyList_New(0);
}

/* Make `kept` own `object`. Steals the reference to `object`. Returns false if
 * that fails. */
static inline bool values_keep(PyObject *kept, PyObject *object) {
  const bool good = object && PyList_Append(kept, object) == 0;

  Py_XDECREF(object);
  return good;
}

static inline size_t values_count(PyObject *list) {
  return PyList_Check(list) ? (size_t)PyList_GET_SIZE(list) : 0;
}

static inline PyObject *values_item(PyObject *list, size_t i) {
  return PyList_GET_ITEM(list, (Py_ssize_t)i);
}

static inline void *values_allocate(PyObject *kept, size_t bytes) {
  PyObject *block = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);

  return values_keep(kept, block) ? PyBytes_AS_STRING(block) : NULL;
}

static inline bool values_is_nothing(PyObject *value) {
  return value == Py_None;
}

static inline bool values_is_mapping(PyObject *value) {
  return PyDict_Check(value);
}

static inline size_t values_size(PyObject *mapping) {
  return (size_t)PyDict_Size(mapping);
}

static inline bool values_each(PyObject *mapping, values_entry entry,
                               void *data) {
  PyObject *key, *value;
  Py_ssize_t position = 0;

  while (PyDict_Next(mapping, &position, &key, &value)) {
    if (!entry(data, key, value))
      return false;
  }
  return true;
}

static inline bool values_is_name(PyObject *key, const char *name) {
  return PyUnicode_Check(key) &&
         PyUnicode_CompareWithASCIIString(key, name) == 0;
}

/* Is this an option of the Python package only? py_session.c reads such
 * options. */
static inline bool values_is_own(PyObject *key) {
  return values_is_name(key, "on_profile") ||
         values_is_name(key, "line_numbers");
}

static inline bool values_is_text(PyObject *value) {
  return PyUnicode_Check(value);
}

static inline const char *values_text(PyObject *kept, PyObject *value,
                                      const char **fault) {
  Py_ssize_t bytes;
  const char *text = PyUnicode_AsUTF8AndSize(value, &bytes);

  if (!text)
    *fault = "is not valid Unicode";
  else if (strlen(text) != (size_t)bytes)
    *fault = "contains a NUL byte";
  return text && values_keep(kept, Py_NewRef(value)) ? text : NULL;
}

/* Convert a value of a dict to text. _options.py has already done this. */
static inline bool values_print(PyObject *kept, PyObject *value,
                                PyObject **text) {
  (void)kept;
  *text = value;
  return true;
}

static inline bool values_number(PyObject *value, int64_t *number, bool *over) {
  int overflow;

  if (!PyLong_Check(value) || PyBool_Check(value))
    return false;
  *number = PyLong_AsLongLongAndOverflow(value, &overflow);
  *over = overflow != 0;
  return true;
}

static inline bool values_switch(PyObject *value, int64_t *number) {
  *number = value == Py_True;
  return PyBool_Check(value);
}

/* Add an item to a dict. Returns 0, or -1 with an exception. Steals the
 * reference to `value`. */
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

  for (i = 0; dict && i < STATS_WORDS; i++) {
    if (stats_names[i] &&
        values_put(dict, stats_names[i],
                   PyLong_FromUnsignedLongLong(stats_value(stats, i))) < 0)
      Py_CLEAR(dict);
  }
  if (dict &&
      values_put(dict, "handler_histogram", values_histogram(stats)) < 0)
    Py_CLEAR(dict);
  return dict;
}

#endif
