/* Finds the native code that runs Ruby code. It looks at the native stack of a
 * C method that a block calls, because all distributions strip the names of
 * these functions from libruby. */
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

/* Defines the methods that the probe calls. Called once, when the extension
 * loads. */
void rb_sp_eval_range_init(void);

/* Returns false if the native stack of this interpreter is not as expected. May
 * raise. */
bool rb_sp_eval_range_find(rb_sp_eval_range *out);

#endif
