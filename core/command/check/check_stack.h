/* Checks whether unwinding works on this machine: a signal in a known function,
 * a copied stack, and whether its frames are found and named. */
#ifndef SP_CHECK_STACK_H
#define SP_CHECK_STACK_H

#include "check_list.h"

/* Reports "unwinder" and "names". Uses the signal `number` temporarily and
 * restores its handler. */
void sp_check_stack(sp_check_list *list, int number);

#endif
