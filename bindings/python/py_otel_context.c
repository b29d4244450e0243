#include "py_context.h"
#include "py_otel.h"
#include "py_span.h"
#include "py_warning.h"

#include <stdio.h>

/* `_native.RuntimeContext`: stands before the program's own implementation of
 * OpenTelemetry's context and has our ContextVar follow each attach and detach.
 * What the program sees is its own implementation's doing: results, exceptions
 * and attributes. Only what ends a thread or the program leaves our part. */

typedef struct otel_context {
  PyObject_HEAD PyObject *inner;
  PyObject *span_key; /* of the current span in a context */
  /* The inner one's ContextVar, where it keeps one as OpenTelemetry's does:
   * reading it runs no bytecode (see py_otel.h). Else NULL. */
  PyObject *variable;
} otel_context;

/* Interned; fixed after py_sp_otel_context_init(). */
static struct {
  PyObject *attach;
  PyObject *detach;
  PyObject *get;
  PyObject *get_current;
} otel_context_names;

/* The span in a context: a new reference, NULL without an exception where there
 * is none. */
static PyObject *otel_context_span(const otel_context *self,
                                   PyObject *context) {
  PyObject *span;

  if (PyDict_Check(context))
    return Py_XNewRef(PyDict_GetItemWithError(context, self->span_key));
  span = PyObject_CallMethodOneArg(context, otel_context_names.get,
                                   self->span_key);
  if (span == Py_None)
    Py_CLEAR(span);
  return span;
}

/* Work for the span of `context`. 0, or -1 with an exception. */
static int otel_context_follow(const otel_context *self, PyObject *context) {
  PyObject *span = otel_context_span(self, context);
  py_sp_span_record *record = NULL;
  int st = PyErr_Occurred() ? -1 : 0;

  if (span)
    st = py_sp_span_resolve(span, &record);
  if (st == 0)
    st = py_sp_context_set_span(record);
  Py_XDECREF((PyObject *)record);
  Py_XDECREF(span);
  return st;
}

/* Our part failed: no spans from now on. The exception that is set stays where
 * it ends a thread or the program; -1 then. */
static int otel_context_failed(const otel_context *self) {
  char text[256], reason[512];

  if (!py_sp_otel_may_take())
    return -1;
  py_sp_error_take(text, sizeof text);
  snprintf(reason, sizeof reason,
           "spans are not shown from now on: following OpenTelemetry's %s "
           "failed (%s)",
           Py_TYPE(self->inner)->tp_name, text);
  py_sp_context_spans_off(reason);
  return 0;
}

static PyObject *otel_context_current(const otel_context *self) {
  PyObject *context;

  if (!self->variable)
    return PyObject_CallMethodNoArgs(self->inner,
                                     otel_context_names.get_current);
  if (PyContextVar_Get(self->variable, NULL, &context) < 0)
    return NULL;
  if (!context)
    PyErr_SetObject(PyExc_LookupError, self->variable);
  return context;
}

static PyObject *otel_context_attach(PyObject *object, PyObject *context) {
  otel_context *self = (otel_context *)object;
  PyObject *token = PyObject_CallMethodOneArg(
      self->inner, otel_context_names.attach, context);

  if (token && py_sp_context_spans_shown() &&
      otel_context_follow(self, context) < 0 && otel_context_failed(self) < 0)
    Py_CLEAR(token);
  return token;
}

/* Follow what is current after a detach, whether or not that succeeded. 0, or
 * -1 with an exception. */
static int otel_context_return(const otel_context *self) {
  PyObject *context = otel_context_current(self);
  int st = context ? otel_context_follow(self, context) : -1;

  Py_XDECREF(context);
  return st < 0 ? otel_context_failed(self) : 0;
}

static PyObject *otel_context_detach(PyObject *object, PyObject *token) {
  otel_context *self = (otel_context *)object;
  PyObject *type, *value, *traceback;
  PyObject *done =
      PyObject_CallMethodOneArg(self->inner, otel_context_names.detach, token);

  if (!py_sp_context_spans_shown())
    return done;
  PyErr_Fetch(&type, &value, &traceback);
  if (otel_context_return(self) < 0) {
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
  }
  PyErr_Restore(type, value, traceback);
  return done;
}

static PyObject *otel_context_get_current(PyObject *object, PyObject *unused) {
  (void)unused;
  return otel_context_current((otel_context *)object);
}

static PyObject *otel_context_get_attribute(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(object, name);

  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_GetAttr(((otel_context *)object)->inner, name);
}

static int otel_context_set_attribute(PyObject *object, PyObject *name,
                                      PyObject *value) {
  return PyObject_SetAttr(((otel_context *)object)->inner, name, value);
}

static int otel_context_traverse(PyObject *object, visitproc visit, void *arg) {
  otel_context *self = (otel_context *)object;

  Py_VISIT(self->inner);
  Py_VISIT(self->variable);
  return 0;
}

/* No tp_clear: it would leave an implementation that answers nothing. What it
 * refers to can break the cycle. */
static void otel_context_dealloc(PyObject *object) {
  otel_context *self = (otel_context *)object;

  PyObject_GC_UnTrack(object);
  Py_XDECREF(self->inner);
  Py_XDECREF(self->span_key);
  Py_XDECREF(self->variable);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *otel_context_new(PyTypeObject *type, PyObject *args,
                                  PyObject *kwargs) {
  static char *names[] = {"inner", "span_key", "variable", NULL};
  PyObject *inner, *span_key, *variable = Py_None;
  otel_context *self;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OU|O:RuntimeContext", names,
                                   &inner, &span_key, &variable))
    return NULL;
  if (variable != Py_None && !PyContextVar_CheckExact(variable)) {
    PyErr_SetString(PyExc_TypeError, "variable is no ContextVar");
    return NULL;
  }
  self = (otel_context *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  self->inner = Py_NewRef(inner);
  self->span_key = Py_NewRef(span_key);
  self->variable = variable == Py_None ? NULL : Py_NewRef(variable);
  return (PyObject *)self;
}

static PyObject *otel_context_inner(PyObject *object, void *unused) {
  (void)unused;
  return Py_NewRef(((otel_context *)object)->inner);
}

/* Follow what is current now: for what was attached before the hook. */
static PyObject *otel_context_refresh(PyObject *object, PyObject *unused) {
  (void)unused;
  if (py_sp_context_spans_shown() &&
      otel_context_return((otel_context *)object) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef otel_context_methods[] = {
    {"attach", otel_context_attach, METH_O, "attach(context) -> token"},
    {"detach", otel_context_detach, METH_O, "detach(token)"},
    {"get_current", otel_context_get_current, METH_NOARGS,
     "get_current() -> context"},
    {"_spanprof_refresh", otel_context_refresh, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef otel_context_fields[] = {
    {"_spanprof_inner", otel_context_inner, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject otel_context_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.RuntimeContext",
    .tp_doc = "Has our context follow OpenTelemetry's.",
    .tp_basicsize = sizeof(otel_context),
    .tp_dealloc = otel_context_dealloc,
    .tp_getattro = otel_context_get_attribute,
    .tp_setattro = otel_context_set_attribute,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = otel_context_traverse,
    .tp_methods = otel_context_methods,
    .tp_getset = otel_context_fields,
    .tp_new = otel_context_new,
};

/* spans_off(reason): from the Python side of the hook. */
static PyObject *otel_spans_off(PyObject *module, PyObject *reason) {
  const char *text = PyUnicode_AsUTF8(reason);

  (void)module;
  if (!text)
    return NULL;
  py_sp_context_spans_off(text);
  Py_RETURN_NONE;
}

static PyObject *otel_spans_shown(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(py_sp_context_spans_shown());
}

static PyMethodDef otel_functions[] = {
    {"spans_off", otel_spans_off, METH_O,
     "spans_off(reason)\n\nShow no span from now on; the reason is logged."},
    {"spans_shown", otel_spans_shown, METH_NOARGS, "spans_shown() -> bool"},
    {NULL, NULL, 0, NULL},
};

int py_sp_otel_context_init(PyObject *module) {
  otel_context_names.attach = PyUnicode_InternFromString("attach");
  otel_context_names.detach = PyUnicode_InternFromString("detach");
  otel_context_names.get = PyUnicode_InternFromString("get");
  otel_context_names.get_current = PyUnicode_InternFromString("get_current");
  if (!otel_context_names.attach || !otel_context_names.detach ||
      !otel_context_names.get || !otel_context_names.get_current)
    return -1;
  if (PyModule_AddType(module, &otel_context_type) < 0)
    return -1;
  return PyModule_AddFunctions(module, otel_functions);
}
