#include "sampler/thread_table.h"
#include "session_inside.h"

/* Counted in as a flush, so that no stop frees the session meanwhile, and
 * without the lock, as the log's callback may wait for who forks. */
static spanprof_status session_sample(spanprof_session *session, bool on) {
  if (!sp_session_enter(session))
    return sp_session_not_running();
  if (on)
    sp_threads_resume();
  else
    sp_collector_pause(session->pipeline.collector);
  sp_log_line(&session->pipeline.log, SPANPROF_LOG_INFO,
              on ? "profiling goes on" : "profiling is paused");
  sp_session_leave(session);
  return SPANPROF_OK;
}

spanprof_status spanprof_session_pause(spanprof_session *session) {
  return session_sample(session, false);
}

spanprof_status spanprof_session_resume(spanprof_session *session) {
  return session_sample(session, true);
}
