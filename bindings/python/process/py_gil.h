/* The GIL for threads of the library. Refused from shortly before the
 * interpreter is finalised: a thread that asks for it after that never comes
 * back. */
#ifndef PY_GIL_H
#define PY_GIL_H

#include "base/py_base.h"

/* Take the GIL on a thread that Python did not start. 0: Python is on its way
 * out; do without. Without the GIL, and with no lock that a thread with the
 * GIL may wait for. */
int py_sp_gil_take(PyGILState_STATE *state);
void py_sp_gil_give_back(PyGILState_STATE state);

/* Let nobody in any more, and wait at most 100 ms for those inside. Without the
 * GIL; for atexit, which runs while threads may still take it. */
void py_sp_gil_close(void);

/* Whether py_sp_gil_take() lets nobody in any more. Any thread. */
int py_sp_gil_closed(void);

/* Once, before the first enter: what a forked child needs. */
int py_sp_gil_init(PyObject *module);

#endif
