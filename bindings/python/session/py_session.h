/* Start, flush and stop of the one session. */
#ifndef PY_SESSION_H
#define PY_SESSION_H

#include "base/py_base.h"

/* What a running session is given to hand on what it has, in ms, where it is
 * ended to make room for another. */
#define PY_SP_SESSION_STOP_MS 2000

/* Adds, each giving up the GIL:
 * start(dict): a running session is stopped first. False: switched off by the
 * environment; every other reason is a spanprof.Error.
 * flush(ms), stop(ms): whether all was handed on in time.
 * running(): bool.
 * end(ms, close): for what ends the process. */
int py_sp_session_init(PyObject *module);

#endif
