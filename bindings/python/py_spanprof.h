/* The extension: puts the rooms of the binding together. */
#ifndef PY_SPANPROF_H
#define PY_SPANPROF_H

#include "base/py_base.h"

/* Python calls this when it loads the extension: the one exported symbol. */
PyMODINIT_FUNC PyInit__native(void);

/* The module with the functions and constants of swig/spanprof.i, a new
 * reference, or its definition, a borrowed one. */
PyObject *PyInit__swig(void);

#endif
