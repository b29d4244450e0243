/* The interpreter as the core's runtime: what it calls back, and whether this
 * interpreter can be walked at all. */
#ifndef PY_RUNTIME_H
#define PY_RUNTIME_H

#include "py_spanprof.h"

#include "py_walker.h"

/* Test the walker on this interpreter, once, and register it. 0: it cannot be
 * profiled, py_sp_runtime_reason() says why, and no exception is set.
 * Idempotent; with the GIL. */
int py_sp_runtime_start(void);

/* Which lines samples show that are settled from here on. Any thread. */
void py_sp_runtime_set_lines(py_sp_line_numbers which);

/* Walk no more; names of frames that were walked stay known. Waits for the
 * handlers that are at work. Before the interpreter goes; with the GIL. */
void py_sp_runtime_stop(void);

/* One sentence: why this interpreter cannot be profiled; NULL: it can. With the
 * GIL. */
const char *py_sp_runtime_reason(void);

#endif
