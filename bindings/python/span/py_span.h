/* The start, name, attributes and end of spans of the OpenTelemetry SDK, as its
 * SpanProcessor sees them. All functions need the GIL. */
#ifndef PY_SPAN_H
#define PY_SPAN_H

#include "context/py_span_record.h"

typedef struct py_sp_span_rules {
  spanprof_span_rules *rules; /* NULL if the rules could not be created */
  unsigned attributes;        /* the bits 1 << spanprof_span_attribute of the
                                 attributes that the rules may require */
} py_sp_span_rules;

/* Report the start of the span `object` to the core and set its attributes, or
 * report its end. Return 0, or -1 with an exception. */
int py_sp_span_start(const py_sp_span_rules *rules, PyObject *object);
int py_sp_span_end(PyObject *object);

/* Find the record by which samples show `span`; *out is a new reference, or
 * NULL if there is none. An unsampled span of the active span's trace resolves
 * to the active span, so that samples carry the innermost sampled span. Returns
 * 0, or -1 with an exception. */
int py_sp_span_resolve(PyObject *span, py_sp_span_record **out);

/* Add resource_of() and span_renamed() to the module. */
int py_sp_span_init(PyObject *module);

#endif
