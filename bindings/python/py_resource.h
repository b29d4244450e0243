/* Of which service the spans of this process are: what the Resource of the
 * first one's tracer says. */
#ifndef PY_RESOURCE_H
#define PY_RESOURCE_H

#include <stdbool.h>

#include "py_spanprof.h"

/* Whether it was told in this process. One look for each span. */
extern bool py_sp_resource_told;

/* Tell it; once. 0, or -1 with an exception of what is no Resource. */
int py_sp_resource_tell(PyObject *span);

/* In a forked child, whose spans may be of another tracer, it is not told. */
void py_sp_resource_init(void);

#endif
