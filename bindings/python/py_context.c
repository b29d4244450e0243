#include "py_context.h"

#include "py_hamt.h"
#include "py_span_record.h"
#include "py_warning.h"

#include <stdatomic.h>

#include "util/base.h"

/* Process-wide: the variable is. */
SP_HANDLER_DATA static struct {
  /* Fixed after py_sp_context_init(). */
  PyObject *var; /* never freed: contexts outlive modules */
  Py_hash_t var_hash;
  /* Guarded by the GIL. */
  const char *reason; /* why the check failed */
  int checked;
  /* Read in the signal handler. */
  _Atomic int spans_off;
} context;

static void span_label_dealloc(PyObject *self) {
  Py_XDECREF(((py_sp_span_label *)self)->record);
  Py_TYPE(self)->tp_free(self);
}

static PyTypeObject span_label_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.SpanLabel",
    .tp_basicsize = sizeof(py_sp_span_label),
    .tp_dealloc = span_label_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* Signal-safe. */
SP_HANDLER_CODE static const py_sp_span_label *
context_label_of(const PyObject *value) {
  return value && (Py_TYPE(value) == &span_label_type ||
                   Py_TYPE(value) == &py_sp_span_record_type)
             ? (const py_sp_span_label *)value
             : NULL;
}

static py_sp_span_record *context_record_of(py_sp_span_label *label) {
  if (!label)
    return NULL;
  return Py_TYPE((PyObject *)label) == &py_sp_span_record_type
             ? (py_sp_span_record *)label
             : label->record;
}

/* Set the variable; its token, or NULL with an exception. */
static PyObject *context_set(py_sp_span_record *record,
                             spanprof_label_set labels) {
  py_sp_span_label *label;
  PyObject *token;

  if (!labels)
    return PyContextVar_Set(context.var, record ? (PyObject *)record : Py_None);
  label = PyObject_New(py_sp_span_label, &span_label_type);
  if (!label)
    return NULL;
  label->span = record ? record->label.span : 0;
  label->carried = record ? record->label.carried : 0;
  label->labels = labels;
  label->record = record;
  Py_XINCREF((PyObject *)record);
  token = PyContextVar_Set(context.var, (PyObject *)label);
  Py_DECREF((PyObject *)label);
  return token;
}

/* The variable's value: a new reference, NULL for nothing. -1 with an
 * exception. */
static int context_get(py_sp_span_label **out) {
  PyObject *value;

  *out = NULL;
  if (PyContextVar_Get(context.var, NULL, &value) < 0)
    return -1;
  if (context_label_of(value))
    *out = (py_sp_span_label *)value;
  else
    Py_XDECREF(value);
  return 0;
}

int py_sp_context_check(void) {
  if (!context.checked) {
    context.reason = py_sp_hamt_check();
    context.checked = 1;
  }
  return context.reason == NULL;
}

const char *py_sp_context_reason(void) {
  return context.reason;
}

SP_HANDLER_CODE int py_sp_context_read(void *tstate,
                                       const spanprof_capture *capture,
                                       spanprof_context_view *out) {
  const py_sp_span_label *label =
      context_label_of(py_sp_hamt_find(tstate, context.var, context.var_hash));

  (void)capture;
  out->labels = label ? label->labels : 0;
  out->span = label && py_sp_context_spans_shown() ? label->carried : 0;
  return 1;
}

int py_sp_context_get_span(py_sp_span_record **out) {
  py_sp_span_label *label;

  *out = NULL;
  if (context_get(&label) < 0)
    return -1;
  *out = (py_sp_span_record *)Py_XNewRef((PyObject *)context_record_of(label));
  Py_XDECREF((PyObject *)label);
  return 0;
}

int py_sp_context_get_labels(spanprof_label_set *out) {
  py_sp_span_label *label;

  *out = 0;
  if (context_get(&label) < 0)
    return -1;
  *out = label ? label->labels : 0;
  Py_XDECREF((PyObject *)label);
  return 0;
}

int py_sp_context_set_span(py_sp_span_record *record) {
  py_sp_span_label *label;
  PyObject *token;

  if (context_get(&label) < 0)
    return -1;
  if (context_record_of(label) == record) {
    Py_XDECREF((PyObject *)label);
    return 0;
  }
  /* A thread that was not found yet is profiled from here on; what is in the
   * way is counted. */
  if (record)
    spanprof_thread_register();
  token = context_set(record, label ? label->labels : 0);
  Py_XDECREF((PyObject *)label);
  Py_XDECREF(token);
  return token ? 0 : -1;
}

PyObject *py_sp_context_set_labels(spanprof_label_set labels) {
  py_sp_span_label *label;
  PyObject *token;

  if (context_get(&label) < 0)
    return NULL;
  if (labels)
    spanprof_thread_register();
  token = context_set(context_record_of(label), labels);
  Py_XDECREF((PyObject *)label);
  return token;
}

int py_sp_context_reset_labels(PyObject *token) {
  py_sp_span_record *record;
  int st;

  if (py_sp_context_get_span(&record) < 0)
    return -1;
  st = PyContextVar_Reset(context.var, token);
  if (st == 0) {
    st = py_sp_context_set_span(record);
  } else if (PyErr_ExceptionMatches(PyExc_ValueError) ||
             PyErr_ExceptionMatches(PyExc_RuntimeError)) {
    PyErr_Clear(); /* of another context, or used: as contextvars has it */
    st = 0;
  }
  Py_XDECREF((PyObject *)record);
  return st;
}

void py_sp_context_spans_off(const char *reason) {
  if (!atomic_exchange_explicit(&context.spans_off, 1, memory_order_relaxed))
    py_sp_warn("%s", reason);
}

SP_HANDLER_CODE int py_sp_context_spans_shown(void) {
  return !atomic_load_explicit(&context.spans_off, memory_order_relaxed);
}

int py_sp_context_init(PyObject *module) {
  (void)module;
  if (PyType_Ready(&span_label_type) < 0 ||
      PyType_Ready(&py_sp_span_record_type) < 0)
    return -1;
  context.var = PyContextVar_New("spanprof_label", NULL);
  if (!context.var)
    return -1;
  context.var_hash = PyObject_Hash(context.var);
  return context.var_hash == -1 ? -1 : 0;
}
