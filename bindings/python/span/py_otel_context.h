/* OpenTelemetry's context, followed by ours. */
#ifndef PY_OTEL_CONTEXT_H
#define PY_OTEL_CONTEXT_H

#include "base/py_base.h"

/* Adds RuntimeContext. */
int py_sp_otel_context_init(PyObject *module);

#endif
