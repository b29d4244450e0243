/* The error message of a status, stored per thread. */
#ifndef SP_STATUS_H
#define SP_STATUS_H

#include "util/base.h"

/* Store the message for spanprof_last_error() and return `status`. Called once
 * per failure, where it occurs. */
spanprof_status sp_fail(spanprof_status status, const char *format, ...)
    SP_PRINTF(2, 3);

/* Calls sp_fail() with a message to which the text of `error` is appended:
 * "...: No such file or directory". */
spanprof_status sp_fail_errno(spanprof_status status, int error,
                              const char *format, ...) SP_PRINTF(3, 4);

#endif
