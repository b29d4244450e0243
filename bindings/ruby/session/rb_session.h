/* Start, flush, pause and stop of the session: the Ruby part of swig/control.h.
 */
#ifndef RB_SESSION_H
#define RB_SESSION_H

#include "base/rb_base.h"

/* Defines Native.flush_once, finish, finish_elsewhere and main_ractor?. */
void rb_sp_session_init(void);

#endif
