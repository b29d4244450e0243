/* Functions of the core that flush at SIGTERM, for the module
 * spanprof._sigterm. */
#ifndef PY_SIGTERM_H
#define PY_SIGTERM_H

#include "base/py_base.h"

int py_sp_sigterm_init(PyObject *module);

#endif
