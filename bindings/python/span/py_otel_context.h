/* Sets the span in spanprof's ContextVar (py_context.h) whenever the program
 * attaches or detaches an OpenTelemetry context. */
#ifndef PY_OTEL_CONTEXT_H
#define PY_OTEL_CONTEXT_H

#include "base/py_base.h"

/* Add RuntimeContext to the module. */
int py_sp_otel_context_init(PyObject *module);

#endif
