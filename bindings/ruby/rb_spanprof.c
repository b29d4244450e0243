#include "rb_spanprof.h"

#include <ruby/ractor.h>
#include <ruby/version.h>

/* What rb_sp_guard() calls. */
typedef struct guard_call {
  VALUE (*step)(VALUE);
  VALUE argument;
} guard_call;

VALUE rb_sp_native;
VALUE rb_sp_error;

/* The main Ractor's alone. */
static rb_ractor_local_key_t ractor_main;

static VALUE guard_never; /* {Object => :never} */

void rb_sp_check(spanprof_status status) {
  const char *message = spanprof_last_error();

  if (!status)
    return;
  if (!message[0])
    message = spanprof_status_text(status);
  rb_raise(rb_sp_error, "%s", message);
}

VALUE rb_sp_class_opaque(const char *name) {
  VALUE class = rb_define_class_under(rb_sp_native, name, rb_cObject);

  rb_undef_alloc_func(class);
  rb_gc_register_mark_object(class);
  return class;
}

bool rb_sp_ractor_is_main(void) {
  VALUE value;

  return rb_ractor_local_storage_value_lookup(ractor_main, &value);
}

static VALUE guard_failed(VALUE data, VALUE error) {
  (void)data, (void)error;
  return Qnil;
}

static VALUE guard_run(VALUE yielded, VALUE data, int argc, const VALUE *argv,
                       VALUE block) {
  const guard_call *call = (const guard_call *)data;
  VALUE error = rb_errinfo();
  VALUE result = rb_rescue2(call->step, call->argument, guard_failed, Qnil,
                            rb_eStandardError, rb_eScriptError, (VALUE)0);

  (void)yielded, (void)argc, (void)argv, (void)block;
  rb_set_errinfo(error);
  return result;
}

VALUE rb_sp_guard(VALUE (*step)(VALUE), VALUE argument) {
  guard_call call = {step, argument};

  return rb_block_call(rb_cThread, rb_intern("handle_interrupt"), 1,
                       &guard_never, guard_run, (VALUE)&call);
}

/* A path that was made for one Ruby may be given to another (RUBYOPT). */
static void version_check(void) {
  if (ruby_api_version[0] != RUBY_API_VERSION_MAJOR ||
      ruby_api_version[1] != RUBY_API_VERSION_MINOR)
    rb_raise(rb_eLoadError, "it was compiled for Ruby %d.%d, not for %d.%d",
             RUBY_API_VERSION_MAJOR, RUBY_API_VERSION_MINOR,
             ruby_api_version[0], ruby_api_version[1]);
}

RUBY_FUNC_EXPORTED void Init_spanprof_native(void) {
  VALUE spanprof;

  version_check();
  spanprof = rb_define_module("Spanprof");
  rb_sp_native = rb_define_module_under(spanprof, "Native");
  rb_sp_error = rb_define_class_under(spanprof, "Error", rb_eStandardError);
  ractor_main = rb_ractor_local_storage_value_newkey();
  rb_ractor_local_storage_value_set(ractor_main, Qtrue);
  guard_never = rb_hash_new();
  rb_hash_aset(guard_never, rb_cObject, ID2SYM(rb_intern("never")));
  rb_gc_register_mark_object(rb_obj_freeze(guard_never));
  rb_define_const(rb_sp_native, "VERSION",
                  rb_obj_freeze(rb_str_new_cstr(spanprof_version())));
  Init_spanprof_swig();
  rb_sp_runtime_init();
  rb_sp_context_init();
  rb_sp_follow_init();
  rb_sp_attribute_init();
  rb_sp_span_rules_init();
  rb_sp_span_init();
  rb_sp_activation_init();
  rb_sp_label_init();
  rb_sp_session_init();
  rb_sp_recording_init();
}
