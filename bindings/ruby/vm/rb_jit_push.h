/* Detects frames that YJIT of Ruby 3.1 has not written yet. This compiler moves
 * ec->cfp before it writes the frame: for about ten instructions the innermost
 * frame still has the contents of an earlier call. The machine code after the
 * interrupted instruction shows whether this is the case. */
#ifndef RB_JIT_PUSH_H
#define RB_JIT_PUSH_H

#include <spanprof/runtime.h>

#include <stdbool.h>

#include "util/base.h"

/* Set the range of the code that YJIT has generated. Does nothing in other
 * versions of Ruby. May be called again with the same range. */
void rb_sp_jit_push_watch(const spanprof_range *range);

/* Returns whether the VM's innermost frame, at `frame`, is not yet written. */
SP_HANDLER_CODE bool rb_sp_jit_push_pending(const spanprof_capture *capture,
                                            const void *frame);

#endif
