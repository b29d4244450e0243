/* Threads that a fork would not copy. */
#ifndef PY_FORK_H
#define PY_FORK_H

#include "base/py_base.h"

/* Add only_own_threads() to the module. Returns -1 with an exception. */
int py_sp_fork_init(PyObject *module);

#endif
