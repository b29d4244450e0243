/* Recordings (spanprof_recording_begin()): profiles of one block or one
 * request. They work with and without a running session. */
#ifndef PY_RECORDING_H
#define PY_RECORDING_H

#include "base/py_base.h"

/* Add recording_begin() and recording_end(), which release the GIL, and
 * mark_get(), mark_set() and mark_call(). A mark is the number of the recording
 * that a context belongs to. */
int py_sp_recording_init(PyObject *module);

#endif
