/* Passes the library's log lines to a Python callable. */
#ifndef PY_LOG_H
#define PY_LOG_H

#include "base/py_base.h"

/* A spanprof_log_fn. Stores the line; never acquires the GIL and never
 * blocks. */
void py_sp_log_write(void *data, spanprof_log_level level, const char *message);

/* Call these before and after a call of the library that releases the GIL.
 * py_sp_log_end() delivers all log lines on this thread; no exception may be
 * set when it is called. It returns 0, or -1 with an exception of the program,
 * for example of a signal handler. The caller must then fail with this
 * exception. */
void py_sp_log_begin(void);
int py_sp_log_end(void);

/* Wait at most `ms` milliseconds until the temporary thread that delivers log
 * lines has delivered them. The caller must not hold the GIL. Code that ends a
 * process must not deliver lines itself: in a forked child, a logging handler
 * may wait for ever for a lock that the fork copied. */
void py_sp_log_wait(long ms);

/* Add _native.log_to(callable) to the module. The callable gets (level, text)
 * of each line; the level is a spanprof_log_level. */
int py_sp_log_init(PyObject *module);

#endif
