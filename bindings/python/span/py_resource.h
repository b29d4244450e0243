/* The service name of this process's spans. It is read from the Resource of the
 * provider that our processor is added to, or from the first span. */
#ifndef PY_RESOURCE_H
#define PY_RESOURCE_H

#include <stdbool.h>

#include "base/py_base.h"

/* Whether the service was passed to the core in this process. Checked at each
 * span. */
extern bool py_sp_resource_reported;

/* Pass the service of a provider or a span to the core. Returns 0, or -1 with
 * an exception if `owner` has no Resource. */
int py_sp_resource_report(PyObject *owner);

/* Install a fork handler that clears the flag, because the child's spans may
 * belong to another tracer. */
void py_sp_resource_init(void);

#endif
