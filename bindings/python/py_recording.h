/* Profiles beside the session, or without one (spanprof_recording_begin()).
 *
 * py_sp_recording_init() of py_spanprof.h adds recording_begin() and
 * recording_end(), both of which give up the GIL, and the marks of contexts. */
#ifndef PY_RECORDING_H
#define PY_RECORDING_H

#include "py_spanprof.h"

#endif
