/* The naming thread: the Ruby thread that resolves the names of frames. It
 * sleeps without the GVL until frames wait, acquires the GVL and resolves them.
 * At intervals it removes old code and threads from the tables. It also starts
 * the delivery of log lines. Thread.list contains it with the name "spanprof".
 *
 * If every other thread waits for another one, the naming thread waits in the
 * same way, so that Ruby detects the deadlock. If the program kills the naming
 * thread, it is started again when names are requested and Ruby code runs. */
#ifndef RB_NAMING_H
#define RB_NAMING_H

#include <stdbool.h>

/* Called once, when the extension loads. */
void rb_sp_naming_init(void);

/* Start the naming thread unless it runs. Never raises. Without the thread,
 * names are resolved when the session is flushed or stopped. */
void rb_sp_naming_start(void);

/* Stop the naming thread and wait for its end. Returns 0, or the interrupt that
 * ended the wait. The caller passes an interrupt to rb_jump_tag(). */
int rb_sp_naming_stop(void);

/* Declare the calling Ruby thread to be the profiler's thread that delivers log
 * lines. */
void rb_sp_naming_log_thread(void);

/* Wake the naming thread. This is the function `want_names` of the
 * spanprof_runtime; it is also called when log lines wait for their delivery.
 * Any thread may call it. Does not wait. */
void rb_sp_naming_request(void *data);

/* Resolve the names of all waiting frames on the calling thread. */
void rb_sp_naming_all(void);

/* Forget the naming thread, without starting it again. Called in a forked
 * child, where this thread does not exist. */
void rb_sp_naming_forget(void);

#endif
