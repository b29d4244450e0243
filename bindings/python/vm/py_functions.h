/* The C functions of the interpreter that Python code can call by a name:
 * functions of modules, such as time.sleep(), and methods of types, such as
 * str.split(). The table maps the address of a function's code to this name.
 *
 * The table has only functions of the interpreter and of the modules in its
 * directory lib-dynload. This code is never unloaded, so its method tables can
 * be read at any time, and an address always belongs to the same function. A
 * function with several names (set.union() and frozenset.union()) gets no name,
 * because its address does not show which of them was called. A function that
 * also implements an operator (METH_COEXIST, such as dict.__contains__()) gets
 * no name either. */
#ifndef PY_FUNCTIONS_H
#define PY_FUNCTIONS_H

#include <stdbool.h>

#include "base/py_base.h"

/* Read the types, and the modules that the program has imported. Adds new
 * functions to the table; names in the table stay valid. `eval` is an address
 * in the interpreter. `directory` is the path of lib-dynload, or "" if this
 * path is not known. Runs no Python code. The caller holds the GIL. */
void py_sp_functions_read(uint64_t eval, const char *directory);

/* Returns whether modules were imported since the last
 * py_sp_functions_read(). May be called on any thread. */
bool py_sp_functions_outdated(void);

/* Returns a number that increases with each call of py_sp_functions_read() that
 * adds functions. May be called on any thread. */
uint64_t py_sp_functions_version(void);

/* Returns the number (spanprof_runtime.native_function) of the function whose
 * code begins at `start`, or 0. May be called on any thread. */
uint64_t py_sp_functions_find(uint64_t start);

/* Returns whether a frame's code is a number of py_sp_functions_find(), and not
 * the id of a code object. */
bool py_sp_functions_is(uint64_t number);

/* Set the function's name in *out. Only one thread may call this function at a
 * time. The text is valid until the next call. */
spanprof_status py_sp_functions_name(uint64_t number, spanprof_name *out);

/* Install the fork handlers. Returns 0, or -1 with an exception. */
int py_sp_functions_init(void);

#endif
