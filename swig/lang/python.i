/* The primitives of typemaps.i for Python. */
%{
#include "python_values.h"

#include "option_values.h"

#define SP_CHECK(status)       if (!py_sp_check(status)) SWIG_fail;
#define SP_FAIL_UNLESS(c)      if (!(c)) SWIG_fail;
#define SP_DROP(object)        Py_XDECREF(object);
#define SP_NOTHING             SWIG_Py_Void()
#define SP_STRING(p)           PyUnicode_DecodeUTF8(p, (Py_ssize_t)strlen(p), "replace")
#define SP_UNLOCKED(...)       Py_BEGIN_ALLOW_THREADS __VA_ARGS__ Py_END_ALLOW_THREADS
%}

/* Create SWIG's table of globals when the module is loaded. Otherwise SWIG's
 * destructor creates the table, without a check that there is memory. */
%init %{
  SWIG_globals();
%}

/* These primitives are for Ruby's Ractors and are empty in Python. */
%define SP_ANYWHERE_BEGIN
%enddef
%define SP_ANYWHERE_END
%enddef
