/* Does the VM keep things where rb_vm_layout.h says? Decided by walking stacks
 * whose frames are known, beside what the VM itself says of them. */
#ifndef RB_SELF_TEST_H
#define RB_SELF_TEST_H

#include <stdbool.h>

#include "rb_walker.h"

/* Defines what the test calls. Once, when the extension loads. */
void rb_sp_self_test_init(void);

/* NULL: the walk with `config` finds the frames of the calling thread. Else why
 * it does not: static. May raise. */
const char *rb_sp_self_test_run(const rb_sp_walker_config *config);

#endif
