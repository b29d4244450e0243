/* Checks whether unwinding works on this machine: a signal handler copies the
 * stack below a known function, and the check looks for the frames and their
 * names. */
#ifndef SP_CHECK_STACK_H
#define SP_CHECK_STACK_H

#include "check_list.h"

/* Print the results "unwinder" and "names". Uses the signal `number`
 * temporarily and restores its handler. */
void sp_check_stack(sp_check_list *list, int number);

#endif
