/* The service name of this process's spans, from the Resource of the provider
 * that our processor is added to, or else of the first span. */
#ifndef PY_RESOURCE_H
#define PY_RESOURCE_H

#include <stdbool.h>

#include "base/py_base.h"

/* Whether it was told in this process. One look for each span. */
extern bool py_sp_resource_told;

/* Pass the service of a provider or a span to the core. 0, or -1 with an
 * exception if `owner` has no Resource. */
int py_sp_resource_tell(PyObject *owner);

/* In a forked child, whose spans may be of another tracer, it is not told. */
void py_sp_resource_init(void);

#endif
