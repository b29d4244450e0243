/* Telling the program's log, from wherever an exception may not go further. */
#ifndef PY_WARNING_H
#define PY_WARNING_H

#include "py_base.h"

/* Log a warning with the logger "spanprof". Keeps the exception that is set,
 * and leaves none of its own. */
void py_sp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the exception that is set is one to log. Others end a thread, a
 * greenlet or the program. */
int py_sp_error_may_take(void);

/* The exception that is set as "ValueError: text", in a buffer of `size`
 * bytes; clears it. */
void py_sp_error_take(char *buffer, size_t size);

#endif
