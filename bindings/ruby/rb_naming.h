/* The Ruby thread that names frames: it sleeps without the GVL until frames
 * wait, takes it, names them, and every so often sweeps what is kept for that.
 * Programs see it in Thread.list, called "spanprof". */
#ifndef RB_NAMING_H
#define RB_NAMING_H

#include <stdbool.h>

/* Once, when the extension loads. */
void rb_sp_naming_init(void);

/* Start the thread, where it does not run. Never raises; without it names come
 * when the session is flushed or stopped. */
void rb_sp_naming_start(void);

/* End it. Returns what interrupted the wait for it, for rb_jump_tag(), or 0. */
int rb_sp_naming_stop(void);

/* The `want_names` of the runtime: any thread, does not wait. */
void rb_sp_naming_want(void *data);

/* Name every frame that waits, here and now. */
void rb_sp_naming_all(void);

/* In a forked child: the thread is gone; starts another if one ran. */
void rb_sp_naming_after_fork(void);

#endif
