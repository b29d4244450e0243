/* The interpreter as a runtime of the core: the core's callbacks, and the test
 * whether this interpreter can be walked. */
#ifndef PY_RUNTIME_H
#define PY_RUNTIME_H

#include "base/py_base.h"
#include "vm/py_walker.h"

/* Test the walker on this interpreter, once, and register the runtime with the
 * core. Returns 0, or -1 with an exception: spanprof.Error with the reason if
 * this interpreter cannot be profiled, or an exception that must end the thread
 * or the program. Idempotent. Needs the GIL. */
int py_sp_runtime_start(void);

/* Set the lines that samples show; applies to samples processed from now on.
 * Any thread. */
void py_sp_runtime_set_lines(py_sp_line_numbers which);

/* Stop walking, and wait for the handlers that are running. Frames that were
 * walked keep their names. Call it with the GIL, before the interpreter is
 * finalized. */
void py_sp_runtime_stop(void);

/* Call it once, when the extension is loaded. */
int py_sp_runtime_init(PyObject *module);

#endif
