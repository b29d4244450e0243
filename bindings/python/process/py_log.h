/* What the library has to say, on its way to a Python callable. */
#ifndef PY_LOG_H
#define PY_LOG_H

#include "base/py_base.h"

/* A spanprof_log_fn: keeps the line; takes no GIL and waits for nothing. */
void py_sp_log_write(void *data, spanprof_log_level level, const char *message);

/* Around a call of the library that gives up the GIL: lines of it are
 * delivered by py_sp_log_end(), on this thread and without an exception set.
 * -1 with one that is the program's, as of a signal's handler: the call is to
 * fail with it. */
void py_sp_log_begin(void);
int py_sp_log_end(void);

/* Wait until the thread that delivers lines has done so, at most `ms`. Without
 * the GIL. What ends a process must not deliver them itself: in a forked child
 * a handler may wait for ever for a lock that the fork copied. */
void py_sp_log_settle(long ms);

/* _native.log_to(callable): gets (level, text) of each line; level is a
 * spanprof_log_level. */
int py_sp_log_init(PyObject *module);

#endif
