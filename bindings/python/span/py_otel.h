/* Reads OpenTelemetry's objects and sets the attributes of a span.
 *
 * All functions read the private attributes of the SDK's and the API's spans,
 * because this runs no bytecode. A property or a method would run bytecode, and
 * Python runs signal handlers of the program between bytecodes: an exception of
 * such a handler (a time limit) would then be raised inside spanprof's code.
 * Spans of other implementations are read by their public attributes. */
#ifndef PY_OTEL_H
#define PY_OTEL_H

#include "base/py_base.h"

/* The key by which the record of a span is found (py_span_record.h). */
typedef struct py_sp_otel_key {
  uint64_t span_id;
  uint64_t trace_low; /* the low half of the trace id */
  int remote;         /* the span belongs to another process */
} py_sp_otel_key;

/* Read the key of a SpanContext, which is a tuple since OpenTelemetry 1.0.
 * Returns 1, or 0 if `span_context` is not a valid SpanContext. Raises no
 * exception. */
int py_sp_otel_key_read(PyObject *span_context, py_sp_otel_key *out);

/* Read the other fields of a SpanContext for which py_sp_otel_key_read()
 * returned 1: the trace id in big-endian order, and whether the span is
 * sampled. Returns 1, or 0 if the fields are malformed. Raises no exception. */
int py_sp_otel_trace_read(PyObject *span_context, uint8_t trace_id[16],
                          int *sampled);

/* Return the span's SpanContext, its parent's SpanContext (or None), and its
 * name: new references, or NULL with an exception. */
PyObject *py_sp_otel_context(PyObject *span);
PyObject *py_sp_otel_parent(PyObject *span);
PyObject *py_sp_otel_name(PyObject *span);

/* Add an attribute, whose value is a str, to a span that has just been started.
 * Returns 0, or -1 with an exception. */
int py_sp_otel_attribute_set(PyObject *span, PyObject *key, PyObject *value);

/* Intern the names of the attributes that this file reads. Returns 0, or -1
 * with an exception. */
int py_sp_otel_init(void);

#endif
