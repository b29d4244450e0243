/* Tests the walker on this interpreter. */
#ifndef PY_SELFTEST_H
#define PY_SELFTEST_H

#include "base/py_base.h"

/* Run nested functions and walk them from the innermost one: functions, files,
 * lines and the ends of eval runs must be as expected. Returns 1 if they are,
 * and 0 if they are not; then `reason` describes the difference in one
 * sentence. Returns -1 with an exception if the functions were interrupted, by
 * a signal or by a lack of memory or stack; this says nothing about the
 * interpreter. Needs the GIL. */
int py_sp_selftest_run(char *reason, size_t size);

#endif
