/* Start, flush, pause and stop of the session: the functions of swig/control.h
 * for Ruby. */
#ifndef RB_SESSION_H
#define RB_SESSION_H

#include "base/rb_base.h"

/* Defines Native.flush_once, Native.finish, Native.finish_elsewhere and
 * Native.main_ractor?. */
void rb_sp_session_init(void);

#endif
