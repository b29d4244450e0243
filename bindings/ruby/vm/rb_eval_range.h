/* Finds the functions of the interpreter that run Ruby code. All distributions
 * strip the names of these functions from libruby. Therefore Ruby code calls a
 * C method of spanprof, the probe, which looks at its own native stack. */
#ifndef RB_EVAL_RANGE_H
#define RB_EVAL_RANGE_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>

/* Define the two C methods whose native stacks are compared. Called once, when
 * the extension loads. */
void rb_sp_eval_range_init(void);

/* Find vm_exec(), the function that runs a sequence of Ruby code. Returns false
 * if the native stack of this interpreter is not as expected. May raise. */
bool rb_sp_eval_range_find(spanprof_range *out);

#endif
