/* Starts, flushes and stops the one session. */
#ifndef PY_SESSION_H
#define PY_SESSION_H

#include "base/py_base.h"

/* Time for a session that a new one replaces to deliver its profiles, in
 * milliseconds. */
#define PY_SP_SESSION_STOP_MS 2000

/* Add the following functions, which release the GIL:
 * start(dict): stops a running session first. Returns False if the environment
 * disables profiling; raises spanprof.Error for every other reason.
 * flush(ms), stop(ms): return whether everything was delivered in time.
 * running(): bool.
 * end(ms, close): for the end of the process. */
int py_sp_session_init(PyObject *module);

#endif
