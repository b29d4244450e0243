/* The primitives of typemaps.i for Ruby. */
%{
#include "ruby_values.h"

#include "option_values.h"

#define SP_CHECK(status)       rb_sp_check(status);
#define SP_FAIL_UNLESS(c)      (void)(c);
#define SP_DROP(object)        RB_GC_GUARD(object);
#define SP_NOTHING             Qnil
#define SP_STRING(p)           rb_utf8_str_new_cstr(p)
#define SP_UNLOCKED(...)       __VA_ARGS__
%}

%rename("running?") sp_control_running;

/* Surround the declarations of functions that Ractors other than the main one
 * may call. */
%define SP_ANYWHERE_BEGIN
%init %{ rb_ext_ractor_safe(true); %}
%enddef
%define SP_ANYWHERE_END
%init %{ rb_ext_ractor_safe(false); %}
%enddef
