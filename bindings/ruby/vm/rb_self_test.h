/* Checks that the VM's memory layout is as rb_vm_layout.h describes it. The
 * test walks stacks with known frames and compares the result with the VM's own
 * information. */
#ifndef RB_SELF_TEST_H
#define RB_SELF_TEST_H

#include <stdbool.h>

#include "rb_walker.h"

/* Defines the method in C that the test's Ruby code calls. Called once, when
 * the extension loads. */
void rb_sp_self_test_init(void);

/* Returns NULL if the walk with `config` finds the frames of the calling
 * thread; otherwise the reason, a static text. May raise. */
const char *rb_sp_self_test_run(const rb_sp_walker_config *config);

#endif
