/* Where the interpreter's eval loop lies in memory. */
#ifndef PY_EVAL_H
#define PY_EVAL_H

#include "py_spanprof.h"

#define PY_SP_EVAL_RANGES_MAX 8

/* Find the code of _PyEval_EvalFrameDefault, the parts of it that the compiler
 * put elsewhere, and, where the interpreter was built so (3.14), the range of
 * its tail-calling functions. Returns how many ranges; 0: not found. Reads the
 * files of the process; any thread. */
size_t py_sp_eval_find(spanprof_range ranges[PY_SP_EVAL_RANGES_MAX]);

#endif
