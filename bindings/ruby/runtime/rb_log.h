/* Passes lines of the core's log to a Ruby logger. Threads without the GVL
 * write the lines to a queue, and a Ruby thread delivers them to the logger. */
#ifndef RB_LOG_H
#define RB_LOG_H

#include "base/rb_base.h"

/* The log function of the core (spanprof_log_fn). Never blocks and needs no
 * GVL. */
void rb_sp_log_write(void *data, spanprof_log_level level, const char *message);

/* Start the delivery of waiting lines on a Ruby thread that exists for this
 * purpose. Raises only the pending interrupts of the calling thread. */
void rb_sp_log_deliver(void);

/* Defines Native.log_lines, Native.log_thread and Native.stderr_line. */
void rb_sp_log_init(void);

#endif
