/* The walker tried on this very interpreter. */
#ifndef PY_SELFTEST_H
#define PY_SELFTEST_H

#include "base/py_base.h"

/* Run a known nest of functions and walk it from the inside: functions, files,
 * lines and ends of eval runs must be as written. 0: they are not, and `reason`
 * says in one sentence what was found. -1 with an exception: the nest was
 * interrupted, by a signal or for want of room, which says nothing about the
 * interpreter. With the GIL. */
int py_sp_selftest_run(char *reason, size_t size);

#endif
