/* Start, flush and stop of the session. */
#ifndef RB_SESSION_H
#define RB_SESSION_H

#include "base/rb_base.h"

/* Defines Native.start, flush, stop and running?. */
void rb_sp_session_init(void);

#endif
