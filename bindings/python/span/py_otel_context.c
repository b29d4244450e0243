#include "py_otel_context.h"

#include <stdio.h>

#include "base/py_warning.h"
#include "context/py_context.h"
#include "py_otel.h"
#include "py_span.h"

/* spanprof.otel replaces OpenTelemetry's context object by one of a new class.
 * The first base of this class is `_native.RuntimeContext`; the second base is
 * the program's own implementation of OpenTelemetry's context. The methods of
 * RuntimeContext call those of the second base, and after each attach and
 * detach they set the span in the ContextVar of py_context.h. Results,
 * exceptions and all other attributes are those of the second base. Of the
 * exceptions that RuntimeContext itself causes, only those that must end a
 * thread or the program propagate. */

typedef struct otel_context {
  PyObject_HEAD PyObject *span_key; /* key of a context's span */
  /* The ContextVar of the second base, if the second base is OpenTelemetry's
   * own class, whose methods only set, reset and get this variable. The methods
   * below then do the same without running bytecode (see py_otel.h). Otherwise
   * NULL. */
  PyObject *variable;
  /* tp_version_tag of the new class; it changes if a method of a base is
   * replaced. */
  unsigned int version;
} otel_context;

/* Not changed after py_sp_otel_context_init(). */
static struct {
  PyObject *type; /* RuntimeContext */
  PyObject *attach;
  PyObject *detach;
  PyObject *get;
  PyObject *get_current;
} otel_context_known;

/* Get the span in an OpenTelemetry context. Returns a new reference; NULL
 * without an exception if there is no span; or NULL with an exception. */
static PyObject *otel_context_span(const otel_context *self,
                                   PyObject *context) {
  PyObject *span;

  if (PyDict_Check(context))
    return Py_XNewRef(PyDict_GetItemWithError(context, self->span_key));
  span = PyObject_CallMethodOneArg(context, otel_context_known.get,
                                   self->span_key);
  if (span == Py_None)
    Py_CLEAR(span);
  return span;
}

/* Set the span of `context` in the ContextVar of py_context.h. Returns 0, or -1
 * with an exception. */
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

/* otel_context_follow() failed. Add no spans to samples from now on, because
 * they could be wrong, and return 0. Return -1 if the current exception must
 * end a thread or the program. */
static int otel_context_failed(const otel_context *self) {
  char text[256], reason[512];

  if (!py_sp_error_is_ordinary())
    return -1;
  py_sp_error_consume(text, sizeof text);
  snprintf(
      reason, sizeof reason,
      "spans are not shown from now on: reading the span of OpenTelemetry's "
      "%s failed (%s)",
      Py_TYPE((PyObject *)self)->tp_name, text);
  py_sp_context_spans_off(reason);
  return 0;
}

/* Returns whether the methods of the second base only set, reset and get
 * `variable`. */
static int otel_context_is_plain(const otel_context *self) {
  return self->variable &&
         Py_TYPE((PyObject *)self)->tp_version_tag == self->version;
}

/* Get the method `name` of the second base. */
static PyObject *otel_context_base(const otel_context *self, PyObject *name) {
  PyObject *args[] = {otel_context_known.type, (PyObject *)self};
  PyObject *base =
      PyObject_Vectorcall((PyObject *)&PySuper_Type, args, 2, NULL);
  PyObject *method = base ? PyObject_GetAttr(base, name) : NULL;

  Py_XDECREF(base);
  return method;
}

/* Call the method `name` of the second base, with `argument` unless it is
 * NULL. */
static PyObject *otel_context_call(const otel_context *self, PyObject *name,
                                   PyObject *argument) {
  PyObject *method = otel_context_base(self, name);
  PyObject *result = NULL;

  if (method)
    result = argument ? PyObject_CallOneArg(method, argument)
                      : PyObject_CallNoArgs(method);
  Py_XDECREF(method);
  return result;
}

static PyObject *otel_context_current(const otel_context *self) {
  PyObject *context;

  if (!otel_context_is_plain(self))
    return otel_context_call(self, otel_context_known.get_current, NULL);
  if (PyContextVar_Get(self->variable, NULL, &context) < 0)
    return NULL;
  if (!context)
    PyErr_SetObject(PyExc_LookupError, self->variable);
  return context;
}

static PyObject *otel_context_attach(PyObject *object, PyObject *context) {
  otel_context *self = (otel_context *)object;
  PyObject *token =
      otel_context_is_plain(self)
          ? PyContextVar_Set(self->variable, context)
          : otel_context_call(self, otel_context_known.attach, context);

  if (token && py_sp_context_spans_shown() &&
      otel_context_follow(self, context) < 0 && otel_context_failed(self) < 0)
    Py_CLEAR(token);
  return token;
}

/* Call otel_context_follow() for the current context. Called after each detach,
 * even if the detach failed. Returns 0, or -1 with an exception. */
static int otel_context_resync(const otel_context *self) {
  PyObject *context = otel_context_current(self);
  int st = context ? otel_context_follow(self, context) : -1;

  Py_XDECREF(context);
  return st < 0 ? otel_context_failed(self) : 0;
}

/* Do what detach() of the second base does. Returns None, or NULL with an
 * exception. */
static PyObject *otel_context_base_detach(const otel_context *self,
                                          PyObject *token) {
  if (!otel_context_is_plain(self))
    return otel_context_call(self, otel_context_known.detach, token);
  return PyContextVar_Reset(self->variable, token) < 0 ? NULL
                                                       : Py_NewRef(Py_None);
}

static PyObject *otel_context_detach(PyObject *object, PyObject *token) {
  otel_context *self = (otel_context *)object;
  PyObject *type, *value, *traceback;
  PyObject *done = otel_context_base_detach(self, token);

  if (!py_sp_context_spans_shown())
    return done;
  PyErr_Fetch(&type, &value, &traceback);
  if (otel_context_resync(self) < 0) {
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

static int otel_context_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((otel_context *)object)->variable);
  return 0;
}

/* The type has no tp_clear, because it would leave an unusable context. The
 * garbage collector can break a reference cycle at the objects that `variable`
 * refers to. */
static void otel_context_dealloc(PyObject *object) {
  otel_context *self = (otel_context *)object;

  PyObject_GC_UnTrack(object);
  Py_XDECREF(self->span_key);
  Py_XDECREF(self->variable);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *otel_context_new(PyTypeObject *type, PyObject *args,
                                  PyObject *kwargs) {
  static char *names[] = {"span_key", "variable", NULL};
  PyObject *span_key, *variable;
  otel_context *self;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UO:RuntimeContext", names,
                                   &span_key, &variable))
    return NULL;
  if (variable != Py_None && !PyContextVar_CheckExact(variable)) {
    PyErr_SetString(PyExc_TypeError, "variable must be a ContextVar or None");
    return NULL;
  }
  self = (otel_context *)type->tp_alloc(type, 0);
  if (!self)
    return NULL;
  self->span_key = Py_NewRef(span_key);
  self->variable = variable == Py_None ? NULL : Py_NewRef(variable);
  /* A class gets a tp_version_tag at its first attribute look-up. */
  Py_XDECREF(PyObject_GetAttr((PyObject *)self, otel_context_known.attach));
  self->version = type->tp_version_tag;
  if (!self->version)
    Py_CLEAR(self->variable);
  return (PyObject *)self;
}

/* _spanprof_refresh(): set the span of the current context, which may have been
 * attached before this object replaced OpenTelemetry's. */
static PyObject *otel_context_refresh(PyObject *object, PyObject *unused) {
  (void)unused;
  if (py_sp_context_spans_shown() &&
      otel_context_resync((otel_context *)object) < 0)
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

static PyTypeObject otel_context_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.RuntimeContext",
    .tp_doc =
        "A context of OpenTelemetry that also tells spanprof the current span.",
    .tp_basicsize = sizeof(otel_context),
    .tp_dealloc = otel_context_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_traverse = otel_context_traverse,
    .tp_methods = otel_context_methods,
    .tp_new = otel_context_new,
};

/* spans_off(reason), called by spanprof/otel/_hook.py. */
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
     "spans_off(reason)\n\nAdd no spans to samples from now on, and log "
     "the reason."},
    {"spans_shown", otel_spans_shown, METH_NOARGS, "spans_shown() -> bool"},
    {NULL, NULL, 0, NULL},
};

int py_sp_otel_context_init(PyObject *module) {
  otel_context_known.type = (PyObject *)&otel_context_type;
  otel_context_known.attach = PyUnicode_InternFromString("attach");
  otel_context_known.detach = PyUnicode_InternFromString("detach");
  otel_context_known.get = PyUnicode_InternFromString("get");
  otel_context_known.get_current = PyUnicode_InternFromString("get_current");
  if (!otel_context_known.attach || !otel_context_known.detach ||
      !otel_context_known.get || !otel_context_known.get_current)
    return -1;
  if (PyModule_AddType(module, &otel_context_type) < 0)
    return -1;
  return PyModule_AddFunctions(module, otel_functions);
}
