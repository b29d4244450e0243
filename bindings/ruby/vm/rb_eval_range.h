/* Finds the functions of the interpreter that run Ruby code. All distributions
 * strip the names of these functions from libruby. Therefore Ruby code calls a
 * C method of spanprof, the probe, which looks at its own native stack. */
#ifndef RB_EVAL_RANGE_H
#define RB_EVAL_RANGE_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>
#include <stddef.h>

/* Maximum number of interpreter functions, of three kinds: those that vm_exec()
 * uses to call a C method, those by which a C method runs a block or method in
 * Ruby (rb_yield() and similar), and those by which a C method calls another
 * one (rb_funcall() and similar). Ruby 3.1 to 3.4 have about 30. */
#define RB_SP_EVAL_FUNCTIONS_MAX 64

typedef struct rb_sp_eval_range {
  spanprof_range run; /* vm_exec(): the loop that runs Ruby code */
  spanprof_range calls[RB_SP_EVAL_FUNCTIONS_MAX]; /* the other functions */
  size_t call_count;
} rb_sp_eval_range;

/* Defines the methods in C that rb_sp_eval_range_find() lets Ruby code call.
 * Called once, when the extension loads. */
void rb_sp_eval_range_init(void);

/* Find the functions. Returns false if the native stack of this interpreter is
 * not as expected. May raise. */
bool rb_sp_eval_range_find(rb_sp_eval_range *out);

#endif
