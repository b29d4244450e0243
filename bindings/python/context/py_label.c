#include "py_label.h"

#include "base/py_utf8.h"
#include "base/py_warning.h"
#include "py_context.h"

/* Functions of _native for spanprof.label and for the tags of the package
 * pyroscope. A label that cannot be converted to text raises no exception: it
 * is logged and left out. */

/* Set *out to the label set `set` with the label name=value added, or without
 * the label `name` if `value` is NULL. `name` and `value` are converted by
 * str(). If the core refuses a label, it counts the refusal, and *out is `set`.
 * Returns 0, or -1 with an exception. */
static int label_with(spanprof_labels set, PyObject *name, PyObject *value,
                      spanprof_labels *out) {
  PyObject *name_keep, *value_keep = NULL;
  size_t name_bytes, value_bytes = 0;
  const char *name_text, *value_text = NULL;
  int st = -1;

  *out = set;
  name_text = py_sp_utf8(name, &name_bytes, &name_keep);
  if (name_text && value)
    value_text = py_sp_utf8(value, &value_bytes, &value_keep);
  if (name_text && (value_text || !value)) {
    spanprof_labels_derive(set, name_text, name_bytes, value_text, value_bytes,
                           out);
    st = 0;
  }
  Py_XDECREF(name_keep);
  Py_XDECREF(value_keep);
  return st;
}

/* Log the current exception and return 0, or return -1 if it must propagate. */
static int label_failed(void) {
  char text[256];

  if (!py_sp_error_is_ordinary())
    return -1;
  py_sp_error_consume(text, sizeof text);
  py_sp_warn("a label is not set: %s", text);
  return 0;
}

static int label_check_count(Py_ssize_t count, const char *what) {
  if (count == 2)
    return 1;
  PyErr_SetString(PyExc_TypeError, what);
  return 0;
}

/* Set *out to the labels of the current context with those of a dict added.
 * Returns 0, or -1 with an exception. */
static int label_merge(PyObject *labels, spanprof_labels *out) {
  PyObject *name, *value;
  Py_ssize_t at = 0;

  if (py_sp_context_get_labels(out) < 0)
    return -1;
  while (PyDict_Next(labels, &at, &name, &value)) {
    int st;

    Py_INCREF(name);
    Py_INCREF(value);
    st = label_with(*out, name, value, out);
    Py_DECREF(name);
    Py_DECREF(value);
    if (st < 0 && label_failed() < 0)
      return -1;
  }
  return 0;
}

/* label_push(number, labels) */
static PyObject *label_push(PyObject *module, PyObject *const *args,
                            Py_ssize_t count) {
  static const char what[] = "label_push() needs a number and a dict";
  spanprof_labels set;
  uint64_t number;

  (void)module;
  if (!label_check_count(count, what))
    return NULL;
  if (!PyDict_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, what);
    return NULL;
  }
  number = PyLong_AsUnsignedLongLong(args[0]);
  if (PyErr_Occurred() || label_merge(args[1], &set) < 0 ||
      py_sp_context_enter_labels(number, set) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* label_pop(number) */
static PyObject *label_pop(PyObject *module, PyObject *number) {
  uint64_t block = PyLong_AsUnsignedLongLong(number);

  (void)module;
  if (PyErr_Occurred() || py_sp_context_leave_labels(block) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* label_set(name, value) */
static PyObject *label_set(PyObject *module, PyObject *const *args,
                           Py_ssize_t count) {
  spanprof_labels set;

  (void)module;
  if (!label_check_count(count, "label_set() needs a name and a value") ||
      py_sp_context_get_labels(&set) < 0)
    return NULL;
  if (label_with(set, args[0], args[1], &set) < 0 && label_failed() < 0)
    return NULL;
  if (py_sp_context_set_labels(set) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* label_remove(name, value) */
static PyObject *label_remove(PyObject *module, PyObject *const *args,
                              Py_ssize_t count) {
  spanprof_labels set, same, without;

  (void)module;
  if (!label_check_count(count, "label_remove() needs a name and a value") ||
      py_sp_context_get_labels(&set) < 0)
    return NULL;
  if (label_with(set, args[0], args[1], &same) < 0 ||
      label_with(set, args[0], NULL, &without) < 0)
    return label_failed() < 0 ? NULL : Py_NewRef(Py_None);
  if (py_sp_context_set_labels(same == set ? without : set) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef label_functions[] = {
    {"label_push", (PyCFunction)(void (*)(void))label_push, METH_FASTCALL,
     "label_push(number, labels)\n\nAdd the labels of a dict to the current "
     "context until label_pop(number)."},
    {"label_pop", label_pop, METH_O,
     "label_pop(number)\n\nRestore the labels from before the last "
     "label_push(number)\nin this context. Does nothing if there was none."},
    {"label_set", (PyCFunction)(void (*)(void))label_set, METH_FASTCALL,
     "label_set(name, value)\n\nAdd a label to the current context."},
    {"label_remove", (PyCFunction)(void (*)(void))label_remove, METH_FASTCALL,
     "label_remove(name, value)\n\nRemove a label if it still has this value."},
    {NULL, NULL, 0, NULL},
};

int py_sp_label_init(PyObject *module) {
  return PyModule_AddFunctions(module, label_functions);
}
