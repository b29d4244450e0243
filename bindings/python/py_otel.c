#include "py_otel.h"

#include <endian.h>
#include <string.h>

/* Fields of the tuple that a SpanContext is (opentelemetry/trace/span.py). */
#define OTEL_TRACE_ID  0
#define OTEL_SPAN_ID   1
#define OTEL_IS_REMOTE 2
#define OTEL_FLAGS     3
#define OTEL_FIELDS    4

/* Interned; fixed after py_sp_otel_init(). */
static struct {
  PyObject *context;
  PyObject *get_context;
  PyObject *parent_kept;
  PyObject *parent;
  PyObject *name_kept;
  PyObject *name;
} otel_names;

/* The 16 bytes of an int, big endian; 0: it is no such int. */
static int otel_trace_id_read(PyObject *value, uint8_t *bytes) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyLong_Check(value) &&
         PyLong_AsNativeBytes(value, bytes, 16,
                              Py_ASNATIVEBYTES_BIG_ENDIAN |
                                  Py_ASNATIVEBYTES_UNSIGNED_BUFFER |
                                  Py_ASNATIVEBYTES_REJECT_NEGATIVE) == 16;
#else
  return PyLong_Check(value) &&
         _PyLong_AsByteArray((PyLongObject *)value, bytes, 16, 0, 0) == 0;
#endif
}

/* A kept attribute, else what the public name gives. */
static PyObject *otel_attribute(PyObject *span, PyObject *kept,
                                PyObject *public) {
  PyObject *value = PyObject_GetAttr(span, kept);

  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_GetAttr(span, public);
}

int py_sp_otel_ids_read(PyObject *span_context, py_sp_otel_ids *out) {
  uint64_t trace_low;
  long flags;
  int valid;

  if (!PyTuple_Check(span_context) ||
      PyTuple_GET_SIZE(span_context) < OTEL_FIELDS)
    return 0;
  valid = otel_trace_id_read(PyTuple_GET_ITEM(span_context, OTEL_TRACE_ID),
                             out->trace_id);
  if (valid)
    out->span_id =
        PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(span_context, OTEL_SPAN_ID));
  out->remote = PyTuple_GET_ITEM(span_context, OTEL_IS_REMOTE) == Py_True;
  flags = PyLong_AsLong(PyTuple_GET_ITEM(span_context, OTEL_FLAGS));
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  out->sampled = flags & 1;
  memcpy(&trace_low, out->trace_id + 8, sizeof trace_low);
  out->trace_low = be64toh(trace_low);
  return valid && out->span_id != 0;
}

PyObject *py_sp_otel_context(PyObject *span) {
  PyObject *value = PyObject_GetAttr(span, otel_names.context);

  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_CallMethodNoArgs(span, otel_names.get_context);
}

PyObject *py_sp_otel_parent(PyObject *span) {
  return otel_attribute(span, otel_names.parent_kept, otel_names.parent);
}

PyObject *py_sp_otel_name(PyObject *span) {
  return otel_attribute(span, otel_names.name_kept, otel_names.name);
}

int py_sp_otel_may_take(void) {
  return PyErr_ExceptionMatches(PyExc_Exception);
}

int py_sp_otel_init(void) {
  otel_names.context = PyUnicode_InternFromString("_context");
  otel_names.get_context = PyUnicode_InternFromString("get_span_context");
  otel_names.parent_kept = PyUnicode_InternFromString("_parent");
  otel_names.parent = PyUnicode_InternFromString("parent");
  otel_names.name_kept = PyUnicode_InternFromString("_name");
  otel_names.name = PyUnicode_InternFromString("name");
  return otel_names.context && otel_names.get_context &&
                 otel_names.parent_kept && otel_names.parent &&
                 otel_names.name_kept && otel_names.name
             ? 0
             : -1;
}
