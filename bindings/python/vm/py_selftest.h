/* Tests the walker on this interpreter. */
#ifndef PY_SELFTEST_H
#define PY_SELFTEST_H

#include "base/py_base.h"

/* Run nested functions and walk them from the innermost one: functions, files,
 * lines and the ends of eval runs must be as expected. Returns 1 if they are,
 * and 0 if they are not; then `reason` describes the difference in one
 * sentence. Returns -1 with an exception if a signal interrupted the functions,
 * or if memory or stack ran out; the test has no result then. Needs the GIL. */
int py_sp_selftest_run(char *reason, size_t size);

#endif
