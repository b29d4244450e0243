/* What a fork would copy. */
#ifndef PY_FORK_H
#define PY_FORK_H

#include "base/py_base.h"

/* Adds only_own_threads(). -1 with an exception. */
int py_sp_fork_init(PyObject *module);

#endif
