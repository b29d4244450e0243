#include "py_span_rules.h"

#include <stdbool.h>

#include "base/py_warning.h"
#include "py_span.h"

typedef struct span_rules {
  PyObject_HEAD py_sp_span_rules own;
  int warned; /* whether an exception was logged */
} span_rules;

/* The result of on_start() and on_end(): None, or NULL with an exception that
 * must end the thread or the program. All other exceptions are dropped; the
 * first one is logged. */
static PyObject *span_answer(span_rules *self, int st, const char *what) {
  char text[256];

  if (st == 0)
    Py_RETURN_NONE;
  if (!py_sp_error_is_ordinary())
    return NULL;
  py_sp_error_consume(text, sizeof text);
  if (!self->warned)
    py_sp_warn("%s: %s; profiles may not show such spans (this is logged once)",
               what, text);
  self->warned = 1;
  Py_RETURN_NONE;
}

/* Returns the argument `span`, positional or named, as a borrowed reference, or
 * NULL with an exception. Ignores all other arguments; parent_context is not
 * needed, because the span has its parent. */
static PyObject *span_argument(PyObject *const *args, Py_ssize_t count,
                               PyObject *names) {
  Py_ssize_t i;

  if (count > 0)
    return args[0];
  for (i = 0; names && i < PyTuple_GET_SIZE(names); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "span") ==
        0)
      return args[i];
  PyErr_SetString(PyExc_TypeError, "missing the argument 'span'");
  return NULL;
}

static PyObject *span_rules_on_start(PyObject *object, PyObject *const *args,
                                     Py_ssize_t count, PyObject *names) {
  span_rules *self = (span_rules *)object;
  PyObject *span = span_argument(args, count, names);

  if (!span)
    return NULL;
  if (!self->own.rules)
    Py_RETURN_NONE;
  return span_answer(self, py_sp_span_start(&self->own, span),
                     "the start of a span could not be recorded");
}

static PyObject *span_rules_on_end(PyObject *object, PyObject *const *args,
                                   Py_ssize_t count, PyObject *names) {
  span_rules *self = (span_rules *)object;
  PyObject *span = span_argument(args, count, names);

  if (!span)
    return NULL;
  if (!self->own.rules)
    Py_RETURN_NONE;
  return span_answer(self, py_sp_span_end(span),
                     "the end of a span could not be recorded");
}

static int span_rules_set(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {
      "application_name",  "server_address", "root_span_only",
      "add_span_name",     "add_url",        "add_baseline_urls",
      "baseline_labels",   "add_trace_id",   "url_template",
      "legacy_span_label", "span_id_label",  NULL};
  span_rules *self = (span_rules *)object;
  spanprof_span_rules_options options;
  int root_span_only = 1, add_span_name = 1, add_url = 0, add_baseline = 0,
      add_trace_id = 0, legacy = 0, span_id = 0;

  if (!py_sp_check(spanprof_span_rules_options_init(&options, sizeof options)))
    return -1;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "|$zzppipzpzpp:SpanRules", names,
          &options.application_name, &options.server_address, &root_span_only,
          &add_span_name, &add_url, &add_baseline, &options.baseline_labels,
          &add_trace_id, &options.url_template, &legacy, &span_id))
    return -1;
  options.root_span_only = root_span_only;
  options.add_span_name = add_span_name;
  options.add_url = add_url;
  options.add_baseline_urls = add_baseline;
  options.add_trace_id = add_trace_id;
  options.legacy_span_label = legacy;
  options.span_id_label = span_id;
  if (self->own.rules) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the options cannot be changed: create a new object");
    return -1;
  }
  self->own.attributes = 1u << SPANPROF_ATTRIBUTE_PROFILE_ID |
                         (add_url ? 1u << SPANPROF_ATTRIBUTE_URL : 0) |
                         (add_baseline ? 1u << SPANPROF_ATTRIBUTE_BASELINE_URL |
                                             1u << SPANPROF_ATTRIBUTE_DIFF_URL
                                       : 0);
  return py_sp_check(spanprof_span_rules_new(&options, &self->own.rules)) ? 0
                                                                          : -1;
}

static void span_rules_dealloc(PyObject *self) {
  spanprof_span_rules_free(((span_rules *)self)->own.rules);
  Py_TYPE(self)->tp_free(self);
}

static PyMethodDef span_rules_methods[] = {
    {"on_start", (PyCFunction)(void (*)(void))span_rules_on_start,
     METH_FASTCALL | METH_KEYWORDS,
     "on_start(span, parent_context=None)\n\nReport the start of a span."},
    {"on_end", (PyCFunction)(void (*)(void))span_rules_on_end,
     METH_FASTCALL | METH_KEYWORDS,
     "on_end(span)\n\nReport the end of a span."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject span_rules_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.SpanRules",
    .tp_doc = "The rules by which a span processor labels spans.",
    .tp_basicsize = sizeof(span_rules),
    .tp_dealloc = span_rules_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_methods = span_rules_methods,
    .tp_init = span_rules_set,
    .tp_new = PyType_GenericNew,
};

int py_sp_span_rules_init(PyObject *module) {
  return PyModule_AddType(module, &span_rules_type);
}
