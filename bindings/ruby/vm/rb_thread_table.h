/* Finds the rb_thread_t that runs on a native thread.
 *
 * Protocol: while spanprof's hook for the start of threads is set, a thread
 * that begins passes its record to the core, and the core passes the record to
 * the stack walker. Threads that existed before are adopted: a table finds
 * their records by the kernel's thread id, because only a thread itself can
 * pass its data to the core. A record belongs to a native thread, which the VM
 * may use for many Ruby threads in sequence. If an exception ends a thread,
 * Ruby 3.1 does not report this end, and the record still refers to the thread.
 * Therefore records keep Thread objects alive. The VM stack of such an ended
 * thread is empty, so a walk finds no frames.
 *
 * All functions need the GVL, except rb_sp_thread_find() and
 * rb_sp_thread_prefetch(), which the signal handler calls. */
#ifndef RB_THREAD_TABLE_H
#define RB_THREAD_TABLE_H

#include <ruby.h>
#include <stdbool.h>

#include "rb_code_table.h"

/* Create the object that retains Thread objects. Called once, when the
 * extension loads. */
void rb_sp_threads_init(void);

/* Adopt the existing threads, and set the hook for the start and end of
 * threads. Returns false if memory for a record was not available. */
bool rb_sp_threads_start(void);

/* Undo rb_sp_threads_start(). Afterwards no record refers to a thread. */
void rb_sp_threads_stop(void);

/* Disable the alternate signal stack of the main thread. Called on this thread
 * when the VM is about to free the thread's data. */
void rb_sp_threads_end(void);

/* Drop all records except that of the calling thread, and update it with the
 * thread's new id. Called in a forked child, which has only this thread. */
void rb_sp_threads_after_fork(void);

/* Free the records of adopted threads that have ended. */
void rb_sp_threads_sweep(void);

/* Return the rb_thread_t of the interrupted thread, or NULL if it is not a Ruby
 * thread. If it is one, *cache is the thread's cache of pairs
 * (rb_code_table.h). `thread_data` is the data that the core has for the
 * thread; if it is NULL, the kernel's thread id is looked up. Only the signal
 * handler calls this. */
const void *rb_sp_thread_find(void *thread_data, rb_sp_code_cache **cache);

/* Store the addresses where the walk of a thread begins. The next walk of this
 * thread begins nearby, so rb_sp_thread_find() prefetches these addresses.
 * Without the prefetch, the walk would wait for one page after another, because
 * each of them points to the next one and none is in a CPU cache. Only the
 * signal handler calls this. */
void rb_sp_thread_prefetch(void *thread_data, const void *frame,
                           const void *environment);

/* Returns the rb_thread_t of a Thread object. */
const void *rb_sp_thread_pointer(VALUE thread);

#endif
