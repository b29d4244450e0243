/* Registers the interpreter as a spanprof_runtime: the callbacks by which the
 * core reads its frames, and the self-test that shows whether this
 * interpreter's frames can be read. */
#ifndef PY_RUNTIME_H
#define PY_RUNTIME_H

#include "base/py_base.h"
#include "vm/py_walker.h"

/* Run the self-test and register the interpreter with the core, at the first
 * call. Returns 0, or -1 with an exception: spanprof.Error with the reason if
 * this interpreter cannot be profiled, or an exception that must end the thread
 * or the program. Needs the GIL. */
int py_sp_runtime_start(void);

/* Choose the lines that frames show in samples that the collector processes
 * from now on. May be called on any thread. */
void py_sp_runtime_set_lines(py_sp_line_numbers which);

/* Stop reading frames in the signal handler, and wait for handlers that are
 * running. Samples that were taken keep the names of their functions. The
 * caller holds the GIL, and the interpreter is not finalized yet. */
void py_sp_runtime_stop(void);

/* Add the functions to the module, and keep a reference to runtime_stop().
 * Returns 0, or -1 with an exception. */
int py_sp_runtime_init(PyObject *module);

#endif
