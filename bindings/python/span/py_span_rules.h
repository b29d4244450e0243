/* _native.SpanRules: the base of spanprof.otel.SpanProcessor. It has the rules
 * by which spans are labelled, and its methods on_start() and on_end() report
 * spans to the core. */
#ifndef PY_SPAN_RULES_H
#define PY_SPAN_RULES_H

#include "base/py_base.h"

int py_sp_span_rules_init(PyObject *module);

#endif
