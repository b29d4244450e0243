/* Keeps the table of C functions (py_functions.h) up to date. */
#ifndef PY_FUNCTION_THREAD_H
#define PY_FUNCTION_THREAD_H

#include "base/py_base.h"

/* Set the arguments of py_sp_functions_read(). Called once, before the other
 * functions. */
void py_sp_function_thread_open(uint64_t eval, const char *directory);

/* Read the functions now if modules were imported since the last time. Needs
 * the GIL. */
void py_sp_function_thread_read(void);

/* If modules were imported, start a temporary thread that reads the functions
 * while it holds the GIL, at most once a second. Called on the collector
 * thread, which must not wait for the GIL. */
void py_sp_function_thread_request(void);

/* Install the fork handlers, and add _native.forked() to the module. A forked
 * child starts no thread before this function is called, which
 * spanprof/_fork.py arranges. */
int py_sp_function_thread_init(PyObject *module);

#endif
