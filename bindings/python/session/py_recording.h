/* Recordings, with or without a session (spanprof_recording_begin()).
 *
 * py_sp_recording_init() of py_spanprof.h adds recording_begin() and
 * recording_end(), both of which release the GIL, and the functions for marks
 * of contexts. */
#ifndef PY_RECORDING_H
#define PY_RECORDING_H

#include "py_spanprof.h"

#endif
