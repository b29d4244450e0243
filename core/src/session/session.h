/* Internal functions of the session. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

#include <spanprof/spanprof.h>

/* Have every fork acquire the locks of the session and of the resource. Call
 * this before acquiring one of these locks. */
void sp_session_fork_ready(void);

/* As spanprof_session_flush(), for a process that is about to end: does not
 * wait to retry a failed upload. SPANPROF_ERR_IO: an upload failed. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
