/* Reading OpenTelemetry's objects.
 *
 * Names, contexts and parents are read from the attributes in which the SDK's
 * and the API's spans keep them (the same since 1.0), because that runs no
 * bytecode: a property would, and a signal handler of the program that raises
 * (a time limit) would then raise inside of us. Spans of another making are
 * asked by their public names. */
#ifndef PY_OTEL_H
#define PY_OTEL_H

#include "py_spanprof.h"

typedef struct py_sp_otel_ids {
  uint8_t trace_id[16];
  uint64_t trace_low; /* its low half */
  uint64_t span_id;
  int remote;
  int sampled;
} py_sp_otel_ids;

/* The ids in a SpanContext, a tuple since 1.0; 0: it is none, or not valid.
 * Leaves no exception. */
int py_sp_otel_ids_read(PyObject *span_context, py_sp_otel_ids *out);

/* The span's SpanContext, its parent's (or None), its name: new references, or
 * NULL with an exception. */
PyObject *py_sp_otel_context(PyObject *span);
PyObject *py_sp_otel_parent(PyObject *span);
PyObject *py_sp_otel_name(PyObject *span);

/* Whether the exception that is set is one to log, not one that ends a thread,
 * a greenlet or the program. */
int py_sp_otel_may_take(void);

/* Intern the names above; -1 with an exception. */
int py_sp_otel_init(void);

#endif
