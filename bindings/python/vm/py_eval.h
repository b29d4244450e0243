/* Where the interpreter's eval loop lies in memory. */
#ifndef PY_EVAL_H
#define PY_EVAL_H

#include "base/py_base.h"

/* Find the code of _PyEval_EvalFrameDefault, the parts of it that the compiler
 * put elsewhere (in Debian's 3.14 nearly all of it), also where the program is
 * stripped, and the functions that stand for it where the interpreter was built
 * to call one per instruction. Returns how many ranges; 0: not found; more than
 * there is room for: the first are there. Reads the interpreter's file; with
 * the GIL. */
size_t py_sp_eval_find(spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX]);

#endif
