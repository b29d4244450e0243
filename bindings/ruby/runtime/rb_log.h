/* Passes lines of the core's log to a Ruby logger. Threads without the GVL
 * write them, and a Ruby thread delivers them. */
#ifndef RB_LOG_H
#define RB_LOG_H

#include "base/rb_base.h"

/* A spanprof_log_fn. Never blocks and needs no GVL. */
void rb_sp_log_write(void *data, spanprof_log_level level, const char *message);

/* Start the delivery of waiting lines on a thread of its own. Raises only the
 * pending interrupts of the calling thread. */
void rb_sp_log_deliver(void);

/* Defines Native.log_lines, log_thread and stderr_line. */
void rb_sp_log_init(void);

#endif
