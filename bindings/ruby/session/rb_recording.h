/* Recordings, with or without a session (spanprof_recording_begin()). */
#ifndef RB_RECORDING_H
#define RB_RECORDING_H

#include "base/rb_base.h"

/* Defines Native::Recording. */
void rb_sp_recording_init(void);

#endif
