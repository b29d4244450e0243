/* Which rb_thread_t runs on a native thread.
 *
 * Protocol: a thread that begins under our hook hands its record to the core,
 * which gives it to the walker. Threads that existed before are adopted into a
 * table by their kernel number, because the core takes a thread's data only on
 * that thread. A record belongs to a native thread, which the VM may use for
 * many Ruby threads one after the other. Ruby 3.1 does not tell when a thread
 * ends by an exception: its record goes on naming it, so records keep the
 * Thread objects alive; the VM stack of an ended thread reads as none.
 *
 * Everything but the lookup happens with the GVL. */
#ifndef RB_THREAD_TABLE_H
#define RB_THREAD_TABLE_H

#include <ruby.h>
#include <stdbool.h>

#include "rb_code_table.h"

/* Creates the holder of Thread objects. Once, when the extension loads. */
void rb_sp_threads_init(void);

/* Adopt the threads that exist, and hook those to come. False: a record could
 * not be had (memory). */
bool rb_sp_threads_start(void);

/* Undo it: no thread has a record afterwards that names one. */
void rb_sp_threads_stop(void);

/* The VM is about to free what the main thread, which calls, has. */
void rb_sp_threads_end(void);

/* The calling Ruby thread's own kernel number changed: in a forked child, of
 * which it is the only thread. */
void rb_sp_threads_after_fork(void);

/* Forget adopted threads that ended. */
void rb_sp_threads_sweep(void);

/* Handler: the rb_thread_t of the interrupted thread, by the data the core
 * keeps for it or, where there is none, by its number; NULL: no Ruby thread.
 * *cache: the thread's own. */
const void *rb_sp_thread_find(void *thread_data, rb_sp_code_cache **cache);

/* Handler: the memory that a thread's walk began with. The next one begins near
 * it, and has it brought near while it looks for the thread: each of these is a
 * page that is in no cache, found by way of the one before. */
void rb_sp_thread_foresee(void *thread_data, const void *frame,
                          const void *environment);

/* The rb_thread_t of a Thread object. */
const void *rb_sp_thread_pointer(VALUE thread);

#endif
