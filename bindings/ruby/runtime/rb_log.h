/* Lines of the core's log on their way to a Ruby logger: they come from
 * threads without the GVL, and are taken by a Ruby thread. */
#ifndef RB_LOG_H
#define RB_LOG_H

#include "base/rb_base.h"

/* A spanprof_log_fn; never blocks, and needs no GVL. */
void rb_sp_log_write(void *data, spanprof_log_level level, const char *message);

/* Have the lines that wait delivered, on a thread of their own. Raises what
 * waited for the calling thread meanwhile, nothing of its own. */
void rb_sp_log_deliver(void);

/* Defines Native.log_take, log_thread and stderr_line. */
void rb_sp_log_init(void);

#endif
