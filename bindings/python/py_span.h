/* Spans of the OpenTelemetry SDK, as its SpanProcessor sees them: started,
 * named, given attributes, ended. `_native.SpanRules` is what a processor is
 * made of. Everything here is called with the GIL. */
#ifndef PY_SPAN_H
#define PY_SPAN_H

#include "py_span_record.h"

/* The record that the context of a span leads to, NULL: none. A span that was
 * not sampled, of the trace that the thread works for, stands for what it works
 * for: samples carry the innermost sampled span. A new reference; 0, or -1 with
 * an exception. */
int py_sp_span_resolve(PyObject *span, py_sp_span_record **out);

#endif
