/* The extension module spanprof._native: initializes all parts of the
 * binding. */
#ifndef PY_SPANPROF_H
#define PY_SPANPROF_H

#include "base/py_base.h"

/* Python calls this function when it loads the extension. It is the only
 * exported symbol. */
PyMODINIT_FUNC PyInit__native(void);

/* Creates the module with the functions and constants of swig/spanprof.i.
 * Returns a new reference to the module, or a borrowed reference to its
 * definition. */
PyObject *PyInit__swig(void);

#endif
