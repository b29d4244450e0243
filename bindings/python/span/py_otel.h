/* Reads OpenTelemetry's objects and sets the attributes of a span.
 *
 * All functions read the private attributes of the SDK's and the API's spans,
 * because this runs no bytecode. A property or a method would run bytecode, and
 * Python runs signal handlers of the program between bytecodes: an exception of
 * such a handler (a time limit) would then be raised inside our code. The spans
 * of other implementations are read by their public names. */
#ifndef PY_OTEL_H
#define PY_OTEL_H

#include "base/py_base.h"

/* The key under which a span is found. */
typedef struct py_sp_otel_key {
  uint64_t span_id;
  uint64_t trace_low; /* the low half of its trace's id */
  int remote;         /* the span belongs to another process */
} py_sp_otel_key;

/* Read the key of a SpanContext, which is a tuple since OpenTelemetry 1.0.
 * Returns 0 if it is not a valid SpanContext. Raises no exception. */
int py_sp_otel_key_read(PyObject *span_context, py_sp_otel_key *out);

/* Read the remaining fields of a valid SpanContext: the trace's id in
 * big-endian order, and whether the span is sampled. Returns 0 if they are
 * malformed. Raises no exception. */
int py_sp_otel_trace_read(PyObject *span_context, uint8_t trace_id[16],
                          int *sampled);

/* Return the span's SpanContext, its parent's SpanContext (or None), and its
 * name: new references, or NULL with an exception. */
PyObject *py_sp_otel_context(PyObject *span);
PyObject *py_sp_otel_parent(PyObject *span);
PyObject *py_sp_otel_name(PyObject *span);

/* Set an attribute, a str, that a just started span does not have yet. Returns
 * 0, or -1 with an exception. */
int py_sp_otel_attribute_set(PyObject *span, PyObject *key, PyObject *value);

/* Intern the names of the attributes. Returns -1 with an exception. */
int py_sp_otel_init(void);

#endif
