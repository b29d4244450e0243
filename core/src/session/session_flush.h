/* A flush at the end of a process; the other one is in spanprof.h. */
#ifndef SP_SESSION_FLUSH_H
#define SP_SESSION_FLUSH_H

#include <spanprof/spanprof.h>

/* As spanprof_session_flush(), where the process ends: a profile that could not
 * be sent is not waited for. SPANPROF_ERR_IO: some could not. */
spanprof_status sp_session_flush_once(spanprof_session *session,
                                      uint32_t timeout_ms);

#endif
