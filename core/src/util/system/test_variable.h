/* Environment variables that only tests set (SPANPROF_TEST_*). */
#ifndef SP_TEST_VARIABLE_H
#define SP_TEST_VARIABLE_H

#include <stdlib.h>

/* The variable's value, or NULL if it is not set. In builds without
 * SPANPROF_TEST_VARIABLES (gems, wheels, and libraries built without tests),
 * the value is always NULL, and the binary does not contain the name. */
#ifdef SPANPROF_TEST_VARIABLES
#define SP_TEST_VARIABLE(name) secure_getenv(name)
#else
#define SP_TEST_VARIABLE(name) NULL
#endif

#endif
