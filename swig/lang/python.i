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

/* Create SWIG's table of globals when the module is loaded. SWIG's destructor
 * otherwise creates the table, and does not check whether memory ran out. */
%init %{
  SWIG_globals();
%}

/* The primitives below are for Ruby's Ractors and are empty here. */
%define SP_ANYWHERE_BEGIN
%enddef
%define SP_ANYWHERE_END
%enddef
