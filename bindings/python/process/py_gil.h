/* The GIL for threads of the library. py_sp_gil_acquire() fails from shortly
 * before the finalization of the interpreter on, because a thread that requests
 * the GIL later never returns. */
#ifndef PY_GIL_H
#define PY_GIL_H

#include "base/py_base.h"

/* Acquire the GIL on a thread that Python did not start. Returns 0 if the
 * interpreter is about to be finalized; the GIL is not held then. The caller
 * must not hold the GIL, nor any lock that a thread with the GIL may wait
 * for. */
int py_sp_gil_acquire(PyGILState_STATE *state);
void py_sp_gil_release(PyGILState_STATE state);

/* Let py_sp_gil_acquire() fail from now on, and wait at most 100 ms for the
 * threads that have acquired the GIL by it or are waiting in it. Called by
 * atexit, without the GIL, while threads can still acquire it. */
void py_sp_gil_close(void);

/* Returns whether py_sp_gil_acquire() refuses the GIL. Any thread. */
int py_sp_gil_closed(void);

/* Install the fork handlers. Call it once, before the first
 * py_sp_gil_acquire(). */
int py_sp_gil_init(PyObject *module);

#endif
