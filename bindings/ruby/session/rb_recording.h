/* Native::Recording: a recording, with or without a session
 * (spanprof_recording_begin()). rb_sp_recording_init() of rb_spanprof.h defines
 * it. */
#ifndef RB_RECORDING_H
#define RB_RECORDING_H

#include "rb_spanprof.h"

#endif
