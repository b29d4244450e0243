/* What the files of the Ruby binding share. Everything here is called with the
 * GVL unless its comment says otherwise. */
#ifndef RB_SPANPROF_H
#define RB_SPANPROF_H

#include <ruby.h>
#include <spanprof/runtime.h>
#include <stdbool.h>

/* What the shared parts of the bindings (swig/) call an object. */
typedef VALUE sp_object;

/* Spanprof::Native, where every C method lives, and Spanprof::Error. */
extern VALUE rb_sp_native;
extern VALUE rb_sp_error;

/* Raises Spanprof::Error with spanprof_last_error() where `status` is a
 * failure. */
void rb_sp_check(spanprof_status status);

/* A class of Spanprof::Native for what stands behind an object of the
 * program's: whoever comes by an instance can neither make another nor copy it.
 */
VALUE rb_sp_class_opaque(const char *name);

/* Whether the calling thread is one of the main Ractor's: in others nothing of
 * ours does anything. */
bool rb_sp_ractor_is_main(void);

/* What `step` returns, or nil where it raises: for what asks a program's own
 * objects. What other threads raise here meanwhile (Timeout does) is not ours
 * to catch, and waits. */
VALUE rb_sp_guard(VALUE (*step)(VALUE), VALUE argument);

/* What Ruby calls when it loads the extension. */
RUBY_FUNC_EXPORTED void Init_spanprof_native(void);

/* What swig/spanprof.i lists, in Spanprof::Native. */
void Init_spanprof_swig(void);

/* One for each noun, called once, in this order, when the extension loads. */
void rb_sp_runtime_init(void);
void rb_sp_context_init(void);
void rb_sp_follow_init(void);
void rb_sp_attribute_init(void);
void rb_sp_span_rules_init(void);
void rb_sp_span_init(void);
void rb_sp_activation_init(void);
void rb_sp_label_init(void);
void rb_sp_session_init(void);
void rb_sp_recording_init(void);

#endif
