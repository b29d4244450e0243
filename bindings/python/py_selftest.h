/* The walker tried on this very interpreter. */
#ifndef PY_SELFTEST_H
#define PY_SELFTEST_H

#include "py_spanprof.h"

/* Run a known nest of functions and walk it from the inside: functions, files,
 * lines and ends of eval runs must be as written. 0: they are not, and `reason`
 * says in one sentence what was found; no exception is set. With the GIL. */
int py_sp_selftest_run(char *reason, size_t size);

#endif
