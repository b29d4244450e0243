/* Entry point of the extension. Initializes all parts of the binding. */
#ifndef RB_SPANPROF_H
#define RB_SPANPROF_H

#include <ruby.h>

/* Ruby calls this function when it loads the extension. */
RUBY_FUNC_EXPORTED void Init_spanprof_native(void);

/* Defines the functions and constants of swig/spanprof.i in Spanprof::Native.
 */
void Init_spanprof_swig(void);

#endif
