/* Telling the program's log, from wherever an exception may not go further. */
#ifndef PY_WARNING_H
#define PY_WARNING_H

#include "py_spanprof.h"

/* Log a warning with the logger "spanprof". Keeps the exception that is set,
 * and leaves none of its own. */
void py_sp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exception that is set as "ValueError: text", in a buffer of `size`
 * bytes; clears it. */
void py_sp_error_take(char *buffer, size_t size);

#endif
