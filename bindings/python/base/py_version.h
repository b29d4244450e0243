/* Calls that differ by the version of CPython. Differences in its memory are in
 * vm/py_layout.h. */
#ifndef PY_VERSION_H
#define PY_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "py_base.h"

/* Does this interpreter run without a GIL? */
#ifdef Py_GIL_DISABLED
#define PY_SP_VERSION_FREE_THREADED 1
#else
#define PY_SP_VERSION_FREE_THREADED 0
#endif

/* Can this interpreter have a compiler at run time? */
#define PY_SP_VERSION_JIT (PY_VERSION_HEX >= 0x030d0000)

/* Any thread. */
static inline bool py_sp_version_finalizing(void) {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

/* Write a non-negative int as big-endian bytes. Returns false if it does not
 * fit or is no int, and may leave an exception then. */
static inline bool py_sp_version_int_bytes(PyObject *value, uint8_t *bytes,
                                           size_t size) {
#if PY_VERSION_HEX >= 0x030d0000
  Py_ssize_t needed;

  if (!PyLong_Check(value))
    return false;
  needed = PyLong_AsNativeBytes(value, bytes, (Py_ssize_t)size,
                                Py_ASNATIVEBYTES_BIG_ENDIAN |
                                    Py_ASNATIVEBYTES_UNSIGNED_BUFFER |
                                    Py_ASNATIVEBYTES_REJECT_NEGATIVE);
  return needed > 0 && needed <= (Py_ssize_t)size;
#else
  return PyLong_Check(value) &&
         _PyLong_AsByteArray((PyLongObject *)value, bytes, size, 0, 0) == 0;
#endif
}

#endif
