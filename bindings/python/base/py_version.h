/* Calls that differ between versions of CPython. Differences in CPython's
 * memory layout are in vm/py_layout.h. */
#ifndef PY_VERSION_H
#define PY_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "py_base.h"

/* True if this interpreter runs without a GIL. */
#ifdef Py_GIL_DISABLED
#define PY_SP_VERSION_FREE_THREADED 1
#else
#define PY_SP_VERSION_FREE_THREADED 0
#endif

/* True if this interpreter can have a just-in-time compiler. */
#define PY_SP_VERSION_JIT (PY_VERSION_HEX >= 0x030d0000)

/* True if code objects have qualified names ("Class.method"). */
#define PY_SP_VERSION_QUALIFIED_NAMES (PY_VERSION_HEX >= 0x030b0000)

/* True if co_linetable is a table of locations (Objects/locations.md of CPython
 * 3.11). In 3.10 it is a table of line deltas (Objects/lnotab_notes.txt). */
#define PY_SP_VERSION_LOCATION_TABLES (PY_VERSION_HEX >= 0x030b0000)

/* The module slot that allows every subinterpreter to import the module; the
 * module itself then accepts or refuses the interpreter. In a CPython without
 * this slot, the macro is the entry that ends the array of slots. */
#ifdef Py_mod_multiple_interpreters
#define PY_SP_VERSION_INTERPRETERS_SLOT \
  { Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED }
#else
#define PY_SP_VERSION_INTERPRETERS_SLOT \
  { 0, NULL }
#endif

/* Returns whether the interpreter is being finalized. May be called on any
 * thread. */
static inline bool py_sp_version_finalizing(void) {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

/* Returns the interval, in microseconds, at which a thread that waits for the
 * GIL checks whether the interpreter is being finalized. Returns 0 from CPython
 * 3.11 on, where such a thread never reads the interpreter after the
 * finalization. */
static inline unsigned long py_sp_version_gil_check_us(void) {
#if PY_VERSION_HEX >= 0x030b0000
  return 0;
#else
  return _PyEval_GetSwitchInterval();
#endif
}

/* Write a non-negative int to `bytes` in big-endian order. Returns false if
 * `value` is not such an int or does not fit into `size` bytes; in this case,
 * an exception may be set. */
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
