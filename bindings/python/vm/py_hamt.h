/* Reading a thread's contextvars from a signal handler: contexts and their
 * hash array mapped tries as CPython 3.10 to 3.15 lay them out. */
#ifndef PY_HAMT_H
#define PY_HAMT_H

#include "base/py_base.h"

/* The value of the ContextVar `var` in the context that `tstate` runs in, or
 * NULL; borrowed. `var_hash` is PyObject_Hash(var). NULL until
 * py_sp_hamt_check() found nothing wrong.
 *
 * Signal-safe on the thread of `tstate`: it follows what that thread's context
 * owns. CPython replaces a context's trie, and a thread's context, by storing
 * the new pointer before it drops the old object, and changes no trie in place
 * (Python/context.c and Python/hamt.c, 3.10 to 3.15), so whatever instruction
 * was interrupted, what is reachable is alive. */
PyObject *py_sp_hamt_find(const PyThreadState *tstate, const PyObject *var,
                          Py_hash_t var_hash);

/* Compare py_sp_hamt_find() with contextvars in tries of every shape, once.
 * NULL, or one sentence on what differs. */
const char *py_sp_hamt_check(void);

#endif
