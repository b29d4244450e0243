/* What the files of the Ruby binding share. Everything here is called with the
 * GVL unless its comment says otherwise. */
#ifndef RB_SPANPROF_H
#define RB_SPANPROF_H

#include <ruby.h>

#include <spanprof/spanprof.h>

/* Spanprof::Native, where every C method lives, and Spanprof::Error. */
extern VALUE rb_sp_native;
extern VALUE rb_sp_error;

/* Raises Spanprof::Error with spanprof_last_error() where `status` is a
 * failure. */
void rb_sp_check(spanprof_status status);

/* What Ruby calls when it loads the extension. */
RUBY_FUNC_EXPORTED void Init_spanprof_native(void);

/* Spanprof::Native::Swig: what swig/spanprof.i lists. */
void Init_spanprof_swig(void);

/* One for each noun, called once, in this order, when the extension loads. */
void rb_sp_runtime_init(void);
void rb_sp_context_init(void);
void rb_sp_attribute_init(void);
void rb_sp_span_rules_init(void);
void rb_sp_span_init(void);
void rb_sp_activation_init(void);
void rb_sp_label_init(void);
void rb_sp_session_init(void);

#endif
