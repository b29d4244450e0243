/* _native.SpanRules: the rules by which spans are labelled. A span processor
 * has one; its methods report starts and ends of spans to the core. */
#ifndef PY_SPAN_RULES_H
#define PY_SPAN_RULES_H

#include "base/py_base.h"

int py_sp_span_rules_init(PyObject *module);

#endif
