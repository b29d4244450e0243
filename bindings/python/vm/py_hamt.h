/* Reads a thread's contextvars in a signal handler: contexts and their hash
 * array mapped tries (HAMT) in the layout of CPython 3.10 to 3.15. */
#ifndef PY_HAMT_H
#define PY_HAMT_H

#include "base/py_base.h"

/* Returns the value of the ContextVar `var` in the current context of `tstate`,
 * borrowed, or NULL. `var_hash` is PyObject_Hash(var). Returns NULL until
 * py_sp_hamt_check() has succeeded.
 *
 * Signal-safe on the thread of `tstate`, because it only follows references
 * that the thread's context owns. CPython replaces a context's trie, and a
 * thread's context, by storing the new pointer before it releases the old
 * object, and it never changes a trie in place (Python/context.c and
 * Python/hamt.c, 3.10 to 3.15). At every interrupted instruction, all reachable
 * objects are therefore alive. */
PyObject *py_sp_hamt_find(const PyThreadState *tstate, const PyObject *var,
                          Py_hash_t var_hash);

/* Check, once per process, that py_sp_hamt_find() finds the values of
 * ContextVars, in contexts of 1 to 400 variables. Returns NULL, or one sentence
 * that describes the difference. */
const char *py_sp_hamt_check(void);

#endif
