/* What typemaps.i needs, for Python. */
%{
#include "python_values.h"

#define SP_CHECK(status)      if (!py_sp_check(status)) SWIG_fail;
#define SP_NOTHING            SWIG_Py_Void()
#define SP_BOOL(c)            PyBool_FromLong((c) != NULL)
#define SP_STRING(p)          PyUnicode_DecodeUTF8(p, (Py_ssize_t)strlen(p), "replace")
#define SP_TEXT(object, p, n) if (!(p = values_text(object, &n))) SWIG_fail;
#define SP_STATS(stats)       values_stats(stats)
%}

/* Its destructor would make this table where there is none, and not see that
 * memory has run out. */
%init %{
  SWIG_globals();
%}
