/* Starts, flushes and stops the one session. */
#ifndef PY_SESSION_H
#define PY_SESSION_H

#include "base/py_base.h"

/* Maximum time, in milliseconds, that a start waits for the replaced session to
 * deliver its profiles. */
#define PY_SP_SESSION_STOP_MS 2000

/* Add the following functions, which release the GIL:
 * start(dict): replaces a running session. Returns False if the environment
 * disables profiling; raises spanprof.Error if the session cannot start.
 * flush(ms), stop(ms): return whether everything was delivered in time.
 * running(): bool.
 * end(ms, close): flushes before the process ends or executes a program; see
 * py_session.c. */
int py_sp_session_init(PyObject *module);

#endif
