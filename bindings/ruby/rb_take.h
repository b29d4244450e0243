/* Native::Take: a profile of the next seconds (spanprof_take_begin()). */
#ifndef RB_TAKE_H
#define RB_TAKE_H

#include <stdbool.h>

/* Is any under way in this process? Then the runtime is wanted without a
 * session, too. */
bool rb_sp_take_any(void);

#endif
