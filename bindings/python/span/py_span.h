/* Spans of the OpenTelemetry SDK, as its SpanProcessor sees them: started,
 * named, given attributes, ended. Everything here is called with the GIL. */
#ifndef PY_SPAN_H
#define PY_SPAN_H

#include "context/py_span_record.h"

typedef struct py_sp_span_rules {
  spanprof_span_rules *rules; /* NULL: none could be made */
  unsigned attributes;        /* 1 << spanprof_span_attribute, those that may
                               * have a value */
} py_sp_span_rules;

/* Tell the core that `object`, a span, started, and give it its attributes;
 * that it ended. 0, or -1 with an exception. */
int py_sp_span_start(const py_sp_span_rules *rules, PyObject *object);
int py_sp_span_end(PyObject *object);

/* The record that the context of a span leads to, NULL: none. A span that was
 * not sampled, of the trace that the thread works for, stands for what it works
 * for: samples carry the innermost sampled span. A new reference; 0, or -1 with
 * an exception. */
int py_sp_span_resolve(PyObject *span, py_sp_span_record **out);

/* Adds the functions of spans. */
int py_sp_span_init(PyObject *module);

#endif
