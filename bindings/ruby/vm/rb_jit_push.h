/* YJIT of Ruby 3.1 moves ec->cfp before it writes the frame there: for some ten
 * instructions the innermost frame is what an earlier call left, with its code.
 * What the compiled code has still to do tells. */
#ifndef RB_JIT_PUSH_H
#define RB_JIT_PUSH_H

#include <spanprof/runtime.h>

#include <stdbool.h>

#include "util/base.h"

/* Where that compiler's code is; of other versions nothing is kept. Once, or
 * again with the same range. */
void rb_sp_jit_push_watch(const spanprof_range *range);

/* Is the innermost frame, at `frame`, not written yet? */
SP_HANDLER_CODE bool rb_sp_jit_push_open(const spanprof_capture *capture,
                                         const void *frame);

#endif
