/* The sentence behind a status, kept per thread. */
#ifndef SP_STATUS_H
#define SP_STATUS_H

#include "util/base.h"

/* Keep the sentence for spanprof_last_error() and return `status`. Called once,
 * where the failure happened. */
spanprof_status sp_fail(spanprof_status status, const char *format, ...)
    SP_PRINTF(2, 3);

/* The same with what errno says appended: "...: No such file or directory". */
spanprof_status sp_fail_errno(spanprof_status status, int error,
                              const char *format, ...) SP_PRINTF(3, 4);

#endif
