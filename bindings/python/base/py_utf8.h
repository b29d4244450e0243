/* Python's text as the core takes it. */
#ifndef PY_UTF8_H
#define PY_UTF8_H

#include "py_base.h"

/* str(value) in UTF-8; lone surrogates come as three bytes, which the core
 * cleans up and counts. Valid until *keep, the caller's reference, is dropped.
 * NULL with an exception; *keep is NULL then. */
const char *py_sp_utf8(PyObject *value, size_t *bytes, PyObject **keep);

#endif
