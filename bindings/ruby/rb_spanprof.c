#include "rb_spanprof.h"

#include <ruby/version.h>

VALUE rb_sp_native;
VALUE rb_sp_error;

void rb_sp_check(spanprof_status status) {
  const char *message = spanprof_last_error();

  if (status == SPANPROF_OK)
    return;
  if (!message[0])
    message = spanprof_status_text(status);
  rb_raise(rb_sp_error, "%s", message);
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
  rb_define_const(rb_sp_native, "VERSION",
                  rb_obj_freeze(rb_str_new_cstr(spanprof_version())));
  Init_spanprof_swig();
  rb_sp_runtime_init();
  rb_sp_context_init();
  rb_sp_attribute_init();
  rb_sp_span_rules_init();
  rb_sp_span_init();
  rb_sp_activation_init();
  rb_sp_label_init();
  rb_sp_session_init();
}
