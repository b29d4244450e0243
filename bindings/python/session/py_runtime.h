/* The interpreter as the core's runtime: what it calls back, and whether this
 * interpreter can be walked at all. */
#ifndef PY_RUNTIME_H
#define PY_RUNTIME_H

#include "base/py_base.h"
#include "vm/py_walker.h"

/* Test the walker on this interpreter, once, and register it. 0, or -1 with an
 * exception: spanprof.Error says why it cannot be profiled, any other ends the
 * thread or the program. Idempotent; with the GIL. */
int py_sp_runtime_start(void);

/* Which lines samples show that are settled from here on. Any thread. */
void py_sp_runtime_set_lines(py_sp_line_numbers which);

/* Walk no more; names of frames that were walked stay known. Waits for the
 * handlers that are at work. Before the interpreter goes; with the GIL. */
void py_sp_runtime_stop(void);

/* Once, when the extension loads. */
int py_sp_runtime_init(PyObject *module);

#endif
