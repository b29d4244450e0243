/* What typemaps.i needs, for Ruby. */
%{
#include "ruby_values.h"

#define SP_CHECK(status)         rb_sp_check(status);
#define SP_NOTHING               Qnil
#define SP_BOOL(c)               ((c) ? Qtrue : Qfalse)
#define SP_STRING(p)             rb_utf8_str_new_cstr(p)
#define SP_TEXT(object, p, n)    p = values_text(object, &n);
#define SP_STATS(stats)          values_stats(stats)
%}
