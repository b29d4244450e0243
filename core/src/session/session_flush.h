/* The flush at the end of a process; spanprof_session_flush() is in spanprof.h.
 */
#ifndef SP_SESSION_FLUSH_H
#define SP_SESSION_FLUSH_H

#include <spanprof/spanprof.h>

/* As spanprof_session_flush(), but before the process ends: does not wait to
 * retry a failed upload. SPANPROF_ERR_IO: an upload failed. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
