/* The Ruby thread that names frames: it sleeps without the GVL until frames
 * wait, takes it, names them, and every so often sweeps what is kept for that.
 * It has the lines of the log handed on, too. Programs see it in Thread.list,
 * called "spanprof".
 *
 * Where every other thread waits for another it does so too, so that Ruby sees
 * the deadlock. Programs may kill it: it comes back when it is asked for, as
 * soon as Ruby code runs. */
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

/* The calling Ruby thread is another of ours, and none of the program's. */
void rb_sp_naming_help(void);

/* The `want_names` of the runtime, also for lines of the log: any thread, does
 * not wait. */
void rb_sp_naming_want(void *data);

/* Name every frame that waits, here and now. */
void rb_sp_naming_all(void);

/* In a forked child: the thread is gone, and nothing is started. */
void rb_sp_naming_forget(void);

#endif
