/* The service name of this process's spans. It is read from the Resource of the
 * provider to which the program adds spanprof's SpanProcessor, or from the
 * Resource of the first span. */
#ifndef PY_RESOURCE_H
#define PY_RESOURCE_H

#include <stdbool.h>

#include "base/py_base.h"

/* Whether py_sp_resource_report() was called in this process. Read at the start
 * of each span. */
extern bool py_sp_resource_reported;

/* Pass the service name and namespace of `owner`, a provider or a span, to the
 * core. Returns 0, or -1 with an exception, for example if `owner` has no
 * Resource. */
int py_sp_resource_report(PyObject *owner);

/* Install a fork handler that sets py_sp_resource_reported to false in the
 * child, because the child's spans may have another service name. */
void py_sp_resource_init(void);

#endif
