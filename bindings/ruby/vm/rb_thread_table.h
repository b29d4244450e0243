/* Finds the rb_thread_t that runs on a native thread.
 *
 * Protocol: a thread that begins while our hook is set passes its record to the
 * core, which passes it to the walker. Threads that existed before are adopted:
 * a table finds their records by the kernel's thread id, because the core
 * accepts a thread's data only on that thread. A record belongs to a native
 * thread, which the VM may use for many Ruby threads in sequence. If an
 * exception ends a thread, Ruby 3.1 does not report this end, and the record
 * still refers to the thread. Therefore records keep Thread objects alive; a
 * walk finds the VM stack of an ended thread empty.
 *
 * Everything except the lookup runs with the GVL. */
#ifndef RB_THREAD_TABLE_H
#define RB_THREAD_TABLE_H

#include <ruby.h>
#include <stdbool.h>

#include "rb_code_table.h"

/* Create the object that retains Thread objects. Called once, when the
 * extension loads. */
void rb_sp_threads_init(void);

/* Adopt the existing threads and hook the start of new ones. Returns false if
 * memory for a record was not available. */
bool rb_sp_threads_start(void);

/* Undo rb_sp_threads_start(). Afterwards no record refers to a thread. */
void rb_sp_threads_stop(void);

/* Called on the main thread when the VM is about to free the main thread's
 * data. */
void rb_sp_threads_end(void);

/* Called in a forked child, where the kernel's id of the calling thread, the
 * only one, has changed. */
void rb_sp_threads_after_fork(void);

/* Free the records of adopted threads that have ended. */
void rb_sp_threads_sweep(void);

/* Handler: the rb_thread_t of the interrupted thread, found by the core's data
 * for the thread or, without data, by the thread's id. Returns NULL if it is
 * not a Ruby thread. *cache: the cache of that thread. */
const void *rb_sp_thread_find(void *thread_data, rb_sp_code_cache **cache);

/* Handler: store where the walk of a thread began. The next walk begins nearby,
 * so its memory is prefetched while the handler looks for the thread. Otherwise
 * each of these pages, which are in no CPU cache, would be read only after the
 * one that points to it. */
void rb_sp_thread_prefetch(void *thread_data, const void *frame,
                           const void *environment);

/* The rb_thread_t of a Thread object. */
const void *rb_sp_thread_pointer(VALUE thread);

#endif
