/* Checks whether stack unwinding works on this machine: a signal handler that
 * interrupts a known function copies the stack, and the check unwinds the copy
 * and looks for the name of the function. */
#ifndef SP_CHECK_STACK_H
#define SP_CHECK_STACK_H

#include "check_list.h"

/* Print the results "unwinder" and "names". Uses the signal `number`
 * temporarily and restores its handler. */
void sp_check_stack(sp_check_list *list, int number);

#endif
