/* Finds the code of the interpreter's eval loop in memory. */
#ifndef PY_EVAL_H
#define PY_EVAL_H

#include "base/py_base.h"

/* Find the address ranges of the function _PyEval_EvalFrameDefault, also in a
 * stripped program, with the parts that the compiler placed elsewhere (in
 * Debian's 3.14 nearly the whole function). If the interpreter has a function
 * for each instruction instead of one loop, these functions are found too.
 * Returns the number of ranges, or 0 if none was found. If there are more than
 * SPANPROF_RUNTIME_RANGES_MAX, `ranges` has the first ones. Reads the
 * interpreter's ELF file. Needs the GIL. */
size_t py_sp_eval_find(spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX]);

#endif
