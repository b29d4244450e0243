/* Functions of the session that are not in spanprof.h. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

#include <spanprof/spanprof.h>

/* Have a fork take the locks of the session and of the resource, and give them
 * back. Call this before taking one of these locks. */
void sp_session_fork_ready(void);

/* As spanprof_session_flush(), but before the process ends: does not wait to
 * retry a failed upload. SPANPROF_ERR_IO: an upload failed. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
