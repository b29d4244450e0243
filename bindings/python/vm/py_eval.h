/* Finds the interpreter's eval loop in memory. */
#ifndef PY_EVAL_H
#define PY_EVAL_H

#include "base/py_base.h"

/* Find the code of _PyEval_EvalFrameDefault, also in a stripped program. This
 * includes the parts that the compiler placed elsewhere (in Debian's 3.14
 * nearly all of it). If the interpreter calls one function per instruction
 * instead, find those functions. Returns the number of ranges, or 0 if none was
 * found. If there are more than fit, `ranges` contains the first ones. Reads
 * the interpreter's file. Needs the GIL. */
size_t py_sp_eval_find(spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX]);

#endif
