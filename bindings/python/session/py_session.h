/* Starts, flushes and stops the session; a process has at most one. */
#ifndef PY_SESSION_H
#define PY_SESSION_H

#include "base/py_base.h"

/* Maximum time, in milliseconds, for which a start waits until the session that
 * it replaces has delivered its profiles. */
#define PY_SP_SESSION_STOP_MS 2000

/* Add end(ms, close) to the module: it delivers everything before the process
 * exits or calls exec. swig/ adds start(), stop(), flush(), pause(), resume()
 * and running(), which call the functions of control.h in py_session.c. */
int py_sp_session_init(PyObject *module);

#endif
