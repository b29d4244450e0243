/* Keeps the table of C functions (py_functions.h) up to date. */
#ifndef PY_FUNCTION_THREAD_H
#define PY_FUNCTION_THREAD_H

#include "base/py_base.h"

/* Set the arguments for later calls of py_sp_functions_read(). Call this
 * function once, before the two functions below. */
void py_sp_function_thread_open(uint64_t eval, const char *directory);

/* Read the functions now if modules were imported since the last time. The
 * caller holds the GIL. */
void py_sp_function_thread_read(void);

/* If modules were imported, start a temporary thread, which acquires the GIL
 * and reads the functions. Does so at most once a second. Called on the
 * collector thread, which must not wait for the GIL. */
void py_sp_function_thread_request(void);

/* Install the fork handlers, and add _native.forked() to the module. A forked
 * child starts no temporary thread before spanprof/_fork.py has called
 * _native.forked(). Returns 0, or -1 with an exception. */
int py_sp_function_thread_init(PyObject *module);

#endif
