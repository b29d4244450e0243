/* The error message of a status, stored per thread. */
#ifndef SP_STATUS_H
#define SP_STATUS_H

#include "util/base.h"

/* Store the message for spanprof_last_error() and return `status`. Called once,
 * at the point of failure. */
spanprof_status sp_fail(spanprof_status status, const char *format, ...)
    SP_PRINTF(2, 3);

/* As sp_fail(), with the text of `error` appended: "...: No such file or
 * directory". */
spanprof_status sp_fail_errno(spanprof_status status, int error,
                              const char *format, ...) SP_PRINTF(3, 4);

#endif
