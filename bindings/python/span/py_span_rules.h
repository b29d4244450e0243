/* _native.SpanRules: how spans are labelled, which a span processor is made
 * with. It tells the core of starts and ends. */
#ifndef PY_SPAN_RULES_H
#define PY_SPAN_RULES_H

#include "base/py_base.h"

int py_sp_span_rules_init(PyObject *module);

#endif
