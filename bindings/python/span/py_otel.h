/* Reading OpenTelemetry's objects, and giving a span its attributes.
 *
 * All of it goes to where the SDK's and the API's spans keep what they have,
 * because that runs no bytecode: a property or a method would, and a signal
 * handler of the program that raises (a time limit) would then raise inside of
 * us. Spans of another making are asked by their public names. */
#ifndef PY_OTEL_H
#define PY_OTEL_H

#include "base/py_base.h"

/* What a span is found by. */
typedef struct py_sp_otel_key {
  uint64_t span_id;
  uint64_t trace_low; /* the low half of its trace's id */
  int remote;         /* of another process */
} py_sp_otel_key;

/* The key in a SpanContext, a tuple since 1.0; 0: it is none, or not valid.
 * Leaves no exception. */
int py_sp_otel_key_read(PyObject *span_context, py_sp_otel_key *out);

/* The rest of what a valid one has: the trace's id, big endian, and whether the
 * span is sampled. 0: not as it should be. Leaves no exception. */
int py_sp_otel_trace_read(PyObject *span_context, uint8_t trace_id[16],
                          int *sampled);

/* The span's SpanContext, its parent's (or None), its name: new references, or
 * NULL with an exception. */
PyObject *py_sp_otel_context(PyObject *span);
PyObject *py_sp_otel_parent(PyObject *span);
PyObject *py_sp_otel_name(PyObject *span);

/* Give a span that just started an attribute that it has not, a str. 0, or -1
 * with an exception. */
int py_sp_otel_attribute_set(PyObject *span, PyObject *key, PyObject *value);

/* Intern the names above; -1 with an exception. */
int py_sp_otel_init(void);

#endif
