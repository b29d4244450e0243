/* Reports errors to the program's log where an exception must not propagate. */
#ifndef PY_WARNING_H
#define PY_WARNING_H

#include "py_base.h"

/* Log a warning with the logger "spanprof". The current exception stays set,
 * and no other is raised. */
void py_sp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns whether the current exception may be logged and dropped. All other
 * exceptions, such as KeyboardInterrupt and SystemExit, must propagate, because
 * they end a thread, a greenlet or the program. */
int py_sp_error_is_ordinary(void);

/* Clear the current exception and write it as "ValueError: text" to a buffer of
 * `size` bytes. */
void py_sp_error_consume(char *buffer, size_t size);

#endif
