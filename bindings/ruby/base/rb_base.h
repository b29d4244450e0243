/* The base of the Ruby binding: its modules, its error, calls into the program.
 * The caller holds the GVL, in this binding, unless a comment says otherwise.
 */
#ifndef RB_BASE_H
#define RB_BASE_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>

/* The name that swig/ uses for an object of the language. */
typedef VALUE sp_object;

/* Spanprof::Native, where every C method lives, and Spanprof::Error. */
extern VALUE rb_sp_native;
extern VALUE rb_sp_error;

/* Raises Spanprof::Error with spanprof_last_error() where `status` is a
 * failure. */
void rb_sp_check(spanprof_status status);

/* A class of Spanprof::Native for data behind an object of the program. Ruby
 * code can neither allocate nor copy its instances. */
VALUE rb_sp_class_opaque(const char *name);

/* Whether the calling thread belongs to the main Ractor. The binding does
 * nothing in other Ractors. */
bool rb_sp_ractor_is_main(void);

/* Call `step`, which asks the program's own objects. Returns its result, or nil
 * if it raises. Exceptions from other threads (Timeout) wait until it has
 * returned. */
VALUE rb_sp_guard(VALUE (*step)(VALUE), VALUE argument);

/* Defines Spanprof, Spanprof::Native and Spanprof::Error. Once, before any
 * other part of the binding. */
void rb_sp_base_init(void);

#endif
