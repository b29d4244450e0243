/* Recordings, with or without a session (spanprof_recording_begin()). */
#ifndef PY_RECORDING_H
#define PY_RECORDING_H

#include "base/py_base.h"

/* Add recording_begin() and recording_end(), which release the GIL, and the
 * functions for marks of contexts. */
int py_sp_recording_init(PyObject *module);

#endif
