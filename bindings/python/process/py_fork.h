/* Tells whether a fork would lose threads of the program, because a forked
 * child has only the thread that forked. */
#ifndef PY_FORK_H
#define PY_FORK_H

#include "base/py_base.h"

/* Add only_own_threads() to the module. Returns 0, or -1 with an exception. */
int py_sp_fork_init(PyObject *module);

#endif
