/* Recordings of the core (spanprof_recording) as Ruby objects. They need no
 * session. */
#ifndef RB_RECORDING_H
#define RB_RECORDING_H

#include "base/rb_base.h"

/* Defines Native::Recording. */
void rb_sp_recording_init(void);

#endif
