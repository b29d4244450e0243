/* The self-test: checks whether py_walker.h reads the frames of this
 * interpreter correctly. */
#ifndef PY_SELFTEST_H
#define PY_SELFTEST_H

#include "base/py_base.h"

/* Run nested Python functions and walk the stack in the innermost one. Returns
 * 1 if functions, files, lines and the ends of eval loops are as expected.
 * Returns 0 if they are not, and `reason` describes the difference in one
 * sentence. Returns -1 with an exception if the functions failed, for example
 * because of a signal handler or for lack of memory or stack; the self-test has
 * no result in this case. Needs the GIL. */
int py_sp_selftest_run(char *reason, size_t size);

#endif
