/* Does unwinding work here: a signal in a known place, a copied stack, and
 * whether its frames are found and named. */
#ifndef SP_CHECK_STACK_H
#define SP_CHECK_STACK_H

#include "check_list.h"

/* Says "unwinder" and "names". Uses the signal `number` for a moment; its
 * handler is restored. */
void sp_check_stack(sp_check_list *list, int number);

#endif
