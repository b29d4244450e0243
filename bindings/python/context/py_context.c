#include "py_context.h"

#include <stdatomic.h>

#include "base/py_warning.h"
#include "py_span_record.h"
#include "util/base.h"
#include "vm/py_hamt.h"

/* One per process, because the binding has one ContextVar. */
SP_HANDLER_DATA static struct {
  /* Not changed after py_sp_context_init(). The ContextVar is never freed,
   * because contexts with a value of this variable may outlive the module. */
  PyObject *var;
  Py_hash_t var_hash;
  /* Guarded by the GIL. */
  const char *reason; /* why py_sp_context_check() failed, or NULL */
  int checked;
  /* Read in the signal handler. */
  _Atomic int spans_off;
} context;

struct py_sp_label_block {
  PyObject_HEAD uint64_t number;
  spanprof_labels before; /* the labels to restore when the block is left */
  py_sp_label_block *outer;
};

/* Frees the outer blocks in a loop instead of a recursion, because blocks can
 * be nested as deeply as calls, and a recursion could exhaust the C stack. */
static void label_block_dealloc(PyObject *self) {
  py_sp_label_block *outer = ((py_sp_label_block *)self)->outer;

  Py_TYPE(self)->tp_free(self);
  while (outer && Py_REFCNT((PyObject *)outer) == 1) {
    py_sp_label_block *next = outer->outer;

    outer->outer = NULL;
    Py_DECREF((PyObject *)outer);
    outer = next;
  }
  Py_XDECREF((PyObject *)outer);
}

static PyTypeObject label_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.LabelBlock",
    .tp_basicsize = sizeof(py_sp_label_block),
    .tp_dealloc = label_block_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

static void span_label_dealloc(PyObject *self) {
  Py_XDECREF(((py_sp_span_label *)self)->record);
  Py_XDECREF((PyObject *)((py_sp_span_label *)self)->block);
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

static void thread_set_context(const py_sp_span_label *label) {
  const spanprof_context_view view = {
      .struct_size = sizeof view,
      .labels = label->labels,
      .span = py_sp_context_spans_shown() ? label->carried : 0,
      .mark = label->mark};

  spanprof_thread_set_context(&view);
}

/* Set the ContextVar to these values in the current context. Returns 0, or -1
 * with an exception. */
static int context_set(py_sp_span_record *record, spanprof_labels labels,
                       py_sp_label_block *block, spanprof_mark mark) {
  PyObject *value = record ? (PyObject *)record : Py_None, *token;
  py_sp_span_label *label = NULL;

  if (labels || block || mark) {
    label = PyObject_New(py_sp_span_label, &span_label_type);
    if (!label)
      return -1;
    label->span = record ? record->label.span : 0;
    label->carried = record ? record->label.carried : 0;
    label->labels = labels;
    label->mark = mark;
    label->record = record;
    label->block = block;
    Py_XINCREF((PyObject *)record);
    Py_XINCREF((PyObject *)block);
    value = (PyObject *)label;
  }
  token = PyContextVar_Set(context.var, value);
  if (value != Py_None)
    thread_set_context((const py_sp_span_label *)value);
  Py_XDECREF((PyObject *)label);
  Py_XDECREF(token);
  return token ? 0 : -1;
}

/* Get the value of the ContextVar in the current context: *out is a new
 * reference, or NULL if there is no value. Returns 0, or -1 with an
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
  out->mark = label ? label->mark : 0;
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

int py_sp_context_get_labels(spanprof_labels *out) {
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
  int st;

  if (context_get(&label) < 0)
    return -1;
  if (context_record_of(label) == record) {
    Py_XDECREF((PyObject *)label);
    return 0;
  }
  /* Start to profile this thread if the collector thread has not found it yet.
   * The core counts failures in its statistics. */
  if (record)
    spanprof_thread_register();
  st = context_set(record, label ? label->labels : 0,
                   label ? label->block : NULL, label ? label->mark : 0);
  Py_XDECREF((PyObject *)label);
  return st;
}

int py_sp_context_set_labels(spanprof_labels labels) {
  py_sp_span_label *label;
  int st;

  if (context_get(&label) < 0)
    return -1;
  if (labels)
    spanprof_thread_register();
  st = context_set(context_record_of(label), labels,
                   label ? label->block : NULL, label ? label->mark : 0);
  Py_XDECREF((PyObject *)label);
  return st;
}

int py_sp_context_enter_labels(uint64_t number, spanprof_labels labels) {
  py_sp_label_block *block = NULL;
  py_sp_span_label *label;
  int st = -1;

  if (context_get(&label) < 0)
    return -1;
  if (labels)
    spanprof_thread_register();
  block = PyObject_New(py_sp_label_block, &label_block_type);
  if (block) {
    block->number = number;
    block->before = label ? label->labels : 0;
    block->outer = label ? label->block : NULL;
    Py_XINCREF((PyObject *)block->outer);
    st = context_set(context_record_of(label), labels, block,
                     label ? label->mark : 0);
  }
  Py_XDECREF((PyObject *)block);
  Py_XDECREF((PyObject *)label);
  return st;
}

int py_sp_context_leave_labels(uint64_t number) {
  const py_sp_label_block *block;
  py_sp_span_label *label;
  int st = 0;

  if (context_get(&label) < 0)
    return -1;
  block = label ? label->block : NULL;
  while (block && block->number != number)
    block = block->outer;
  if (block)
    st = context_set(context_record_of(label), block->before, block->outer,
                     label->mark);
  Py_XDECREF((PyObject *)label);
  return st;
}

int py_sp_context_get_mark(spanprof_mark *out) {
  py_sp_span_label *label;

  *out = 0;
  if (context_get(&label) < 0)
    return -1;
  *out = label ? label->mark : 0;
  Py_XDECREF((PyObject *)label);
  return 0;
}

int py_sp_context_set_mark(spanprof_mark mark) {
  py_sp_span_label *label;
  int st;

  if (context_get(&label) < 0)
    return -1;
  if (mark)
    spanprof_thread_register();
  st = context_set(context_record_of(label), label ? label->labels : 0,
                   label ? label->block : NULL, mark);
  Py_XDECREF((PyObject *)label);
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
  if (PyType_Ready(&label_block_type) < 0 ||
      PyType_Ready(&span_label_type) < 0 ||
      PyType_Ready(&py_sp_span_record_type) < 0)
    return -1;
  context.var = PyContextVar_New("spanprof_label", NULL);
  if (!context.var)
    return -1;
  context.var_hash = PyObject_Hash(context.var);
  return context.var_hash == -1 ? -1 : 0;
}
