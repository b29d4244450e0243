/* Start, flush and stop of the session. */
#ifndef RB_SESSION_H
#define RB_SESSION_H

#include "rb_spanprof.h"

/* Does a session of the program's run? */
bool rb_sp_session_runs(void);

/* Make the runtime ready; raises Spanprof::Error where this Ruby cannot be
 * profiled. */
void rb_sp_session_runtime_check(void);

/* Defines Native.start, flush, stop and running?. */
void rb_sp_session_init(void);

#endif
