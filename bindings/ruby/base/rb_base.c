#include "rb_base.h"

#include <ruby/ractor.h>

/* Arguments of guard_run(). */
typedef struct guard_call {
  VALUE (*step)(VALUE);
  VALUE argument;
} guard_call;

VALUE rb_sp_native;
VALUE rb_sp_error;

/* A Ractor-local value that only the main Ractor has. */
static rb_ractor_local_key_t ractor_main;

/* {Object => :never}: a mask for Thread.handle_interrupt */
static VALUE guard_never;

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

void rb_sp_base_init(void) {
  VALUE spanprof = rb_define_module("Spanprof");

  rb_sp_native = rb_define_module_under(spanprof, "Native");
  rb_sp_error = rb_define_class_under(spanprof, "Error", rb_eStandardError);
  ractor_main = rb_ractor_local_storage_value_newkey();
  rb_ractor_local_storage_value_set(ractor_main, Qtrue);
  guard_never = rb_hash_new();
  rb_hash_aset(guard_never, rb_cObject, ID2SYM(rb_intern("never")));
  rb_gc_register_mark_object(rb_obj_freeze(guard_never));
}
