/* Which native code runs Ruby code: found by looking at the native stack of a
 * C method that a block calls, because the names of these functions are
 * stripped in every distribution's libruby. */
#ifndef RB_EVAL_RANGE_H
#define RB_EVAL_RANGE_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>
#include <stddef.h>

/* Functions between a C method and the function that runs one stretch of Ruby
 * code (calls, sends, the loop), those that begin a stretch for a C method
 * (rb_yield() and its kind), and those by which C methods call each other
 * (rb_funcall() and its kind). Ruby 3.1 to 3.4 have some 30. */
#define RB_SP_EVAL_FUNCTIONS_MAX 64

typedef struct rb_sp_eval_range {
  spanprof_range run; /* once for each stretch: vm_exec() */
  spanprof_range calls[RB_SP_EVAL_FUNCTIONS_MAX]; /* the others */
  size_t call_count;
} rb_sp_eval_range;

/* Defines what the probe calls. Once, when the extension loads. */
void rb_sp_eval_range_init(void);

/* False: this interpreter's native stack is not as expected. May raise. */
bool rb_sp_eval_range_find(rb_sp_eval_range *out);

#endif
