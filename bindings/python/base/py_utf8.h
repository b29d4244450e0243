/* Converts Python's text to the core's UTF-8. */
#ifndef PY_UTF8_H
#define PY_UTF8_H

#include "py_base.h"

/* Returns str(value) in UTF-8, valid until the caller releases the reference
 * *keep. Lone surrogates become three bytes each, which the core replaces and
 * counts. Returns NULL with an exception; *keep is NULL then. */
const char *py_sp_utf8(PyObject *value, size_t *bytes, PyObject **keep);

#endif
