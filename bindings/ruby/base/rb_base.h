/* Base of the Ruby binding: its modules, its error class, and calls of the
 * program's methods. In the whole binding the caller holds the GVL, unless a
 * comment says otherwise. */
#ifndef RB_BASE_H
#define RB_BASE_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>

/* The headers in swig/ use this name for an object of the binding's language.
 */
typedef VALUE sp_object;

/* Spanprof::Native, which has all methods in C, and Spanprof::Error. */
extern VALUE rb_sp_native;
extern VALUE rb_sp_error;

/* Raises Spanprof::Error with the text of spanprof_last_error() if `status` is
 * a failure. */
void rb_sp_check(spanprof_status status);

/* Define a class in Spanprof::Native for data that belongs to an object of the
 * program. Ruby code can neither allocate nor copy its instances. */
VALUE rb_sp_class_opaque(const char *name);

/* Returns whether the calling thread belongs to the main Ractor. The binding
 * does nothing in other Ractors. */
bool rb_sp_ractor_is_main(void);

/* Call `step`, which calls methods of the program's objects. Returns its
 * result, or nil if it raises. Exceptions that other threads raise in this
 * thread (Timeout) are raised after `step` has returned. */
VALUE rb_sp_guard(VALUE (*step)(VALUE), VALUE argument);

/* Defines Spanprof, Spanprof::Native and Spanprof::Error. Called once, before
 * the initialization of all other parts of the binding. */
void rb_sp_base_init(void);

#endif
