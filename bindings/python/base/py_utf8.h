/* Converts Python objects to UTF-8 text for the core. */
#ifndef PY_UTF8_H
#define PY_UTF8_H

#include "py_base.h"

/* Returns str(value) in UTF-8. The text is valid until the caller releases the
 * reference *keep. A lone surrogate becomes three bytes, which the core
 * replaces and counts. On failure, returns NULL with an exception and sets
 * *keep to NULL. */
const char *py_sp_utf8(PyObject *value, size_t *bytes, PyObject **keep);

#endif
