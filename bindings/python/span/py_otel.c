#include "py_otel.h"

#include "base/py_version.h"

/* Indexes of the fields of a SpanContext, which is a tuple
 * (opentelemetry/trace/span.py). */
#define OTEL_TRACE_ID  0
#define OTEL_SPAN_ID   1
#define OTEL_IS_REMOTE 2
#define OTEL_FLAGS     3
#define OTEL_FIELDS    4

/* Interned names of attributes. Not changed after py_sp_otel_init(). */
static struct {
  PyObject *context;
  PyObject *get_context;
  PyObject *private_parent;
  PyObject *parent;
  PyObject *private_name;
  PyObject *name;
  PyObject *attributes;
  PyObject *dict;
  PyObject *maxlen;
  PyObject *max_value_len;
  PyObject *set_attribute;
} otel_names;

/* Get the private attribute `kept`, or the attribute `public` if the private
 * one does not exist. Returns NULL with an exception on failure. */
static PyObject *otel_attribute(PyObject *span, PyObject *kept,
                                PyObject *public) {
  PyObject *value = PyObject_GetAttr(span, kept);

  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_GetAttr(span, public);
}

/* Returns whether the attribute `name`, a limit, is None or an int of at least
 * `least`. */
static int otel_limit_allows(PyObject *object, PyObject *name,
                             Py_ssize_t least) {
  PyObject *limit = PyObject_GetAttr(object, name);
  int allows =
      limit && (limit == Py_None ||
                (PyLong_CheckExact(limit) && PyLong_AsSsize_t(limit) >= least));

  Py_XDECREF(limit);
  return allows;
}

/* Add an attribute to the dict of the span's BoundedAttributes
 * (opentelemetry/attributes), as this class does, within its limits. Returns 1,
 * or 0 if the span's method set_attribute() must be called instead; in this
 * case, an exception may be set. */
static int otel_attribute_store(PyObject *attributes, PyObject *key,
                                PyObject *value) {
  PyObject *dict = PyObject_GetAttr(attributes, otel_names.dict);
  int kept = dict && PyDict_CheckExact(dict) && !PyDict_Contains(dict, key) &&
             otel_limit_allows(attributes, otel_names.maxlen,
                               PyDict_GET_SIZE(dict) + 1) &&
             otel_limit_allows(attributes, otel_names.max_value_len,
                               PyUnicode_GET_LENGTH(value)) &&
             PyDict_SetItem(dict, key, value) == 0;

  Py_XDECREF(dict);
  return kept;
}

int py_sp_otel_key_read(PyObject *span_context, py_sp_otel_key *out) {
  if (!PyTuple_Check(span_context) ||
      PyTuple_GET_SIZE(span_context) < OTEL_FIELDS)
    return 0;
  out->span_id = PyLong_AsUnsignedLongLongMask(
      PyTuple_GET_ITEM(span_context, OTEL_SPAN_ID));
  out->trace_low = PyLong_AsUnsignedLongLongMask(
      PyTuple_GET_ITEM(span_context, OTEL_TRACE_ID));
  out->remote = PyTuple_GET_ITEM(span_context, OTEL_IS_REMOTE) == Py_True;
  if ((out->span_id == UINT64_MAX || out->trace_low == UINT64_MAX) &&
      PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  return out->span_id != 0;
}

int py_sp_otel_trace_read(PyObject *span_context, uint8_t trace_id[16],
                          int *sampled) {
  long flags = PyLong_AsLong(PyTuple_GET_ITEM(span_context, OTEL_FLAGS));
  int valid = py_sp_version_int_bytes(
      PyTuple_GET_ITEM(span_context, OTEL_TRACE_ID), trace_id, 16);

  *sampled = flags & 1;
  if (!PyErr_Occurred())
    return valid;
  PyErr_Clear();
  return 0;
}

PyObject *py_sp_otel_context(PyObject *span) {
  PyObject *value = PyObject_GetAttr(span, otel_names.context);

  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_CallMethodNoArgs(span, otel_names.get_context);
}

PyObject *py_sp_otel_parent(PyObject *span) {
  return otel_attribute(span, otel_names.private_parent, otel_names.parent);
}

PyObject *py_sp_otel_name(PyObject *span) {
  return otel_attribute(span, otel_names.private_name, otel_names.name);
}

int py_sp_otel_attribute_set(PyObject *span, PyObject *key, PyObject *value) {
  PyObject *attributes = PyObject_GetAttr(span, otel_names.attributes);
  PyObject *args[] = {span, key, value}, *done;
  int kept = attributes ? otel_attribute_store(attributes, key, value) : 0;

  Py_XDECREF(attributes);
  if (kept)
    return 0;
  PyErr_Clear();
  done = PyObject_VectorcallMethod(otel_names.set_attribute, args,
                                   3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

int py_sp_otel_init(void) {
  static const struct {
    PyObject **at;
    const char *text;
  } names[] = {
      {&otel_names.context, "_context"},
      {&otel_names.get_context, "get_span_context"},
      {&otel_names.private_parent, "_parent"},
      {&otel_names.parent, "parent"},
      {&otel_names.private_name, "_name"},
      {&otel_names.name, "name"},
      {&otel_names.attributes, "_attributes"},
      {&otel_names.dict, "_dict"},
      {&otel_names.maxlen, "maxlen"},
      {&otel_names.max_value_len, "max_value_len"},
      {&otel_names.set_attribute, "set_attribute"},
  };
  size_t i;

  for (i = 0; i < sizeof names / sizeof names[0]; i++) {
    *names[i].at = PyUnicode_InternFromString(names[i].text);
    if (!*names[i].at)
      return -1;
  }
  return 0;
}
