/* Internal functions of the session. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

#include <spanprof/spanprof.h>

/* Register the fork hooks that acquire and release the locks of the session and
 * of the resource. Call this function before acquiring one of these locks. */
void sp_session_fork_ready(void);

/* Do the same as spanprof_session_flush(), but do not wait to retry a failed
 * upload, because the process is about to end. Also returns SPANPROF_ERR_IO if
 * an upload failed. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
