/* The GIL for threads of the library. Shortly before the interpreter is
 * finalized, py_sp_gil_acquire() begins to fail, because a thread that requests
 * the GIL after the finalization never returns. */
#ifndef PY_GIL_H
#define PY_GIL_H

#include "base/py_base.h"

/* Acquire the GIL on a thread that Python did not start. Returns 1, or 0
 * without the GIL if the interpreter is about to be finalized. The caller must
 * not hold the GIL, nor any lock that a thread with the GIL may wait for. */
int py_sp_gil_acquire(PyGILState_STATE *state);
void py_sp_gil_release(PyGILState_STATE state);

/* Let py_sp_gil_acquire() fail from now on, and wait at most 100 ms until all
 * threads that called it have called py_sp_gil_release(). Called by a hook of
 * atexit, after it has released the GIL, while threads can still acquire the
 * GIL. */
void py_sp_gil_close(void);

/* Returns whether py_sp_gil_acquire() fails. May be called on any thread, with
 * or without the GIL. */
int py_sp_gil_closed(void);

/* Install the fork handlers. Call it once, before the first
 * py_sp_gil_acquire(). */
int py_sp_gil_init(PyObject *module);

#endif
