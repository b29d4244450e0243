/* What other files of this room, and bindings, ask of the session; the rest of
 * it is in spanprof.h. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

#include <spanprof/spanprof.h>

/* Have a fork take the session's locks, and the resource's, and give them back;
 * whoever is about to take one of them has called it before. */
void sp_session_fork_ready(void);

/* As spanprof_session_flush(), where the process ends: a profile that could not
 * be sent is not waited for. SPANPROF_ERR_IO: some could not. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
