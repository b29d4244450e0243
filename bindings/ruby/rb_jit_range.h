/* Where YJIT puts the code it makes. It has no unwind information and no names:
 * to the profiler it is a part of the interpreter. */
#ifndef RB_JIT_RANGE_H
#define RB_JIT_RANGE_H

#include <stdbool.h>

#include <spanprof/spanprof.h>

/* False: none was found. What is enabled later (RubyVM::YJIT.enable) is not
 * seen; its frames are called "[unknown]". May raise. */
bool rb_sp_jit_range_find(spanprof_range *out);

#endif
