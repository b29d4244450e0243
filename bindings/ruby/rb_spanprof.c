#include "rb_spanprof.h"

#include <ruby/version.h>

#include "base/rb_base.h"
#include "context/rb_context.h"
#include "context/rb_follow.h"
#include "context/rb_label.h"
#include "runtime/rb_log.h"
#include "runtime/rb_runtime.h"
#include "session/rb_recording.h"
#include "session/rb_session.h"
#include "span/rb_activation.h"
#include "span/rb_attribute.h"
#include "span/rb_span.h"
#include "span/rb_span_rules.h"

/* Raise an exception if this library was compiled for another version of Ruby.
 * RUBYOPT may contain a path to the gems of another version. */
static void version_check(void) {
  if (ruby_api_version[0] != RUBY_API_VERSION_MAJOR ||
      ruby_api_version[1] != RUBY_API_VERSION_MINOR)
    rb_raise(rb_eLoadError,
             "it was compiled for Ruby %d.%d, not for %d.%d: install the gem "
             "again with this Ruby",
             RUBY_API_VERSION_MAJOR, RUBY_API_VERSION_MINOR,
             ruby_api_version[0], ruby_api_version[1]);
}

RUBY_FUNC_EXPORTED void Init_spanprof_native(void) {
  version_check();
  rb_sp_base_init();
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
  rb_sp_log_init();
  rb_sp_recording_init();
}
