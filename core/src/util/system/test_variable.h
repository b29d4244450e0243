/* Environment variables that only tests set (SPANPROF_TEST_*). */
#ifndef SP_TEST_VARIABLE_H
#define SP_TEST_VARIABLE_H

#include <stdlib.h>

/* The variable's value, NULL if it is not set. Always NULL, without a trace of
 * the name, in builds that do not define SPANPROF_TEST_VARIABLES: gems, wheels
 * and libraries that are built without tests. */
#ifdef SPANPROF_TEST_VARIABLES
#define SP_TEST_VARIABLE(name) secure_getenv(name)
#else
#define SP_TEST_VARIABLE(name) NULL
#endif

#endif
