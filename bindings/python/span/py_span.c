#include "py_span.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <structmember.h>

#include "base/py_utf8.h"
#include "base/py_warning.h"
#include "py_otel.h"
#include "py_resource.h"
#include "py_span_rules.h"

/* Size of the first buffer for an attribute. A longer attribute is read a
 * second time, into a larger buffer. */
#define SPAN_ATTRIBUTE_BYTES 512

#define SPAN_ATTRIBUTES 4

/* Interned. Not changed after py_sp_span_init(). */
static PyObject *span_attribute_keys[SPAN_ATTRIBUTES];

/* Returns the value of an attribute; NULL without an exception if the span does
 * not get this attribute; or NULL with an exception. */
static PyObject *span_attribute(const py_sp_span_rules *rules,
                                spanprof_span span,
                                spanprof_span_attribute attribute) {
  char buffer[SPAN_ATTRIBUTE_BYTES];
  PyObject *value = NULL;
  char *large;
  size_t length;
  spanprof_status st = spanprof_span_attribute_get(
      rules->rules, span, attribute, buffer, sizeof buffer, &length);

  if (!st)
    return length ? PyUnicode_FromStringAndSize(buffer, (Py_ssize_t)length)
                  : NULL;
  if (st != SPANPROF_ERR_LIMIT) {
    py_sp_check(st);
    return NULL;
  }
  large = PyMem_Malloc(length + 1);
  if (!large)
    return PyErr_NoMemory();
  if (py_sp_check(spanprof_span_attribute_get(rules->rules, span, attribute,
                                              large, length + 1, &length)))
    value = PyUnicode_FromStringAndSize(large, (Py_ssize_t)length);
  PyMem_Free(large);
  return value;
}

/* Set the attributes that the rules require. Returns 0, or -1 with an
 * exception. */
static int span_attributes_set(const py_sp_span_rules *rules, PyObject *object,
                               spanprof_span span) {
  int i;

  for (i = 0; i < SPAN_ATTRIBUTES; i++) {
    PyObject *value;
    int st;

    if (!(rules->attributes & 1u << i))
      continue;
    value = span_attribute(rules, span, (spanprof_span_attribute)i);
    if (!value && PyErr_Occurred())
      return -1;
    if (!value && i == SPANPROF_ATTRIBUTE_PROFILE_ID)
      return 0; /* without the id, no attribute is set */
    if (!value)
      continue;
    st = py_sp_otel_attribute_set(object, span_attribute_keys[i], value);
    Py_DECREF(value);
    if (st < 0)
      return -1;
  }
  return 0;
}

static void span_id_write(uint64_t id, uint8_t bytes[8]) {
  id = htobe64(id);
  memcpy(bytes, &id, sizeof id);
}

/* Read the parent of the span. Returns 0, or -1 with an exception. */
static int span_parent_read(PyObject *object, spanprof_span_info *info) {
  PyObject *parent = py_sp_otel_parent(object);
  py_sp_otel_key key;

  if (!parent)
    return -1;
  if (parent != Py_None && py_sp_otel_key_read(parent, &key)) {
    span_id_write(key.span_id, info->parent_id);
    if (key.remote)
      info->flags |= SPANPROF_SPAN_PARENT_REMOTE;
  }
  Py_DECREF(parent);
  return 0;
}

/* Report the start of the span to the core and create its record. Returns 0, or
 * -1 with an exception. *out is the record, a new reference, or NULL if the
 * SpanContext is not valid. */
static int span_record_make(const py_sp_span_rules *rules, PyObject *object,
                            PyObject *context, const py_sp_otel_key *key,
                            py_sp_span_record **out) {
  spanprof_span_info info = {.struct_size = sizeof info};
  PyObject *name, *keep;
  spanprof_span span;
  int sampled, started;

  *out = NULL;
  if (!py_sp_otel_trace_read(context, info.trace_id, &sampled))
    return 0;
  span_id_write(key->span_id, info.span_id);
  if (!sampled)
    info.flags |= SPANPROF_SPAN_UNSAMPLED;
  if (span_parent_read(object, &info) < 0)
    return -1;
  name = py_sp_otel_name(object);
  if (!name)
    return -1;
  info.name = py_sp_utf8(name, &info.name_bytes, &keep);
  started =
      info.name && py_sp_check(spanprof_span_start(rules->rules, &info, &span));
  if (started)
    *out =
        py_sp_span_record_new(span, key->span_id, key->trace_low, name, object);
  Py_XDECREF(keep);
  Py_DECREF(name);
  return *out ? 0 : -1;
}

/* Call py_sp_resource_report(). An ordinary exception is logged as a warning.
 * Returns 0, or -1 with an exception that must propagate. */
static int span_resource_report(PyObject *object) {
  char text[256];

  if (py_sp_resource_report(object) == 0)
    return 0;
  if (!py_sp_error_is_ordinary())
    return -1;
  py_sp_error_consume(text, sizeof text);
  py_sp_warn("the service of the spans is not known: %s", text);
  return 0;
}

static PyObject *span_resource_of(PyObject *module, PyObject *provider) {
  (void)module;
  if (span_resource_report(provider) < 0)
    return NULL;
  Py_RETURN_NONE;
}

int py_sp_span_start(const py_sp_span_rules *rules, PyObject *object) {
  py_sp_span_record *record = NULL;
  PyObject *context;
  py_sp_otel_key key;
  int st = 0;

  if (!py_sp_resource_reported && span_resource_report(object) < 0)
    return -1;
  context = py_sp_otel_context(object);
  if (!context)
    return -1;
  /* If there is a record, another SpanProcessor of spanprof has reported the
   * span. */
  if (py_sp_otel_key_read(context, &key) &&
      !py_sp_span_record_find(key.span_id, key.trace_low))
    st = span_record_make(rules, object, context, &key, &record);
  Py_DECREF(context);
  if (!record)
    return st;
  st = span_attributes_set(rules, object, record->label.span);
  Py_DECREF((PyObject *)record);
  return st;
}

/* Pass the span's current name to the core. Returns 0, or -1 with an exception.
 * If `out` is not NULL, *out is the span's record, a new reference, or NULL. */
static int span_name_report(PyObject *object, py_sp_span_record **out) {
  PyObject *context = py_sp_otel_context(object), *name;
  py_sp_span_record *record;
  py_sp_otel_key key;

  if (!context)
    return -1;
  record = py_sp_otel_key_read(context, &key)
               ? py_sp_span_record_find(key.span_id, key.trace_low)
               : NULL;
  Py_DECREF(context);
  if (!record || record->other)
    return 0;
  Py_INCREF((PyObject *)record);
  name = py_sp_otel_name(object);
  if (name)
    py_sp_span_record_rename(record, name);
  Py_XDECREF(name);
  if (out)
    *out = record;
  else
    Py_DECREF((PyObject *)record);
  return name ? 0 : -1;
}

int py_sp_span_end(PyObject *object) {
  py_sp_span_record *record = NULL;
  int st = span_name_report(object, &record);

  if (record)
    py_sp_span_record_end(record);
  Py_XDECREF((PyObject *)record);
  return st;
}

/* span_renamed(span) */
static PyObject *span_renamed(PyObject *module, PyObject *object) {
  (void)module;
  if (span_name_report(object, NULL) == 0)
    Py_RETURN_NONE;
  if (!py_sp_error_is_ordinary())
    return NULL;
  PyErr_Clear(); /* the name is read again when the span ends, and a failure is
                    logged then */
  Py_RETURN_NONE;
}

static PyMethodDef span_functions[] = {
    {"resource_of", span_resource_of, METH_O,
     "resource_of(provider): use the service name of the provider's Resource."},
    {"span_renamed", span_renamed, METH_O,
     "span_renamed(span)\n\nUse the span's current name for its samples."},
    {NULL, NULL, 0, NULL},
};

/* If the active span belongs to the trace of `key`, create an alias of its
 * record for `span`; otherwise leave *out unchanged. Returns 0, or -1 with an
 * exception. */
static int span_alias(PyObject *span, const py_sp_otel_key *key,
                      py_sp_span_record **out) {
  py_sp_span_record *around;

  if (py_sp_context_get_span(&around) < 0)
    return -1;
  if (around && around->trace_low == key->trace_low)
    *out = py_sp_span_record_alias(around, key->span_id, key->trace_low, span);
  Py_XDECREF((PyObject *)around);
  return PyErr_Occurred() ? -1 : 0;
}

int py_sp_span_resolve(PyObject *span, py_sp_span_record **out) {
  PyObject *context;
  py_sp_otel_key key;
  int st = 0;

  *out = (py_sp_span_record *)Py_XNewRef(
      (PyObject *)py_sp_span_record_recent(span));
  if (*out)
    return 0;
  context = py_sp_otel_context(span);
  if (!context) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return -1;
    PyErr_Clear(); /* not a span; OpenTelemetry's get_current_span() ignores
                      such an object too */
    return 0;
  }
  if (py_sp_otel_key_read(context, &key) && !key.remote) {
    *out = py_sp_span_record_find(key.span_id, key.trace_low);
    if (*out)
      Py_INCREF((PyObject *)*out);
    else
      st = span_alias(span, &key, out);
  }
  Py_DECREF(context);
  return st;
}

int py_sp_span_init(PyObject *module) {
  int i;

  py_sp_resource_init();
  if (py_sp_otel_init() < 0)
    return -1;
  for (i = 0; i < SPAN_ATTRIBUTES; i++) {
    span_attribute_keys[i] = PyUnicode_InternFromString(
        spanprof_span_attribute_key((spanprof_span_attribute)i));
    if (!span_attribute_keys[i])
      return -1;
  }
  return PyModule_AddFunctions(module, span_functions);
}
